import { createParser } from 'eventsource-parser';

export type StreamState = 'connecting' | 'open' | 'reconnecting' | 'closed';

export interface StreamOptions {
  /** The last event that is already known; 0 asks for everything. */
  from: number;
  onData: (data: string) => void;
  onState: (state: StreamState, attempt: number) => void;
  /** The server refuses for good: signed out, gone, or not ours. */
  onRefused: (status: number) => void;
  signal: AbortSignal;
  /** Ends the wait before the next attempt. */
  hurry?: EventTarget;
  headers?: () => Record<string, string>;
  fetch?: typeof fetch;
  /** The server sends a comment every 15 s; a silence of three is a dead connection. */
  idleMs?: number;
  maxBackoffMs?: number;
  random?: () => number;
}

/**
 * Reads an event stream until the signal aborts or the server refuses for good. A lost connection is continued
 * after the last whole event; half a frame at a cut is dropped and asked for again. Ends of runs do not end it.
 */
export async function openStream(url: string, o: StreamOptions): Promise<void> {
  let last = o.from > 0 ? String(o.from) : '';
  let serverRetry = 2000;
  let attempt = 0;
  while (!o.signal.aborted) {
    o.onState(attempt === 0 ? 'connecting' : 'reconnecting', attempt);
    const turn = new AbortController();
    const abort = () => turn.abort();
    o.signal.addEventListener('abort', abort, { once: true });
    let watchdog: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(abort, o.idleMs ?? 45_000);
    };
    try {
      alive();
      const res = await (o.fetch ?? fetch)(url, {
        headers: { Accept: 'text/event-stream', ...(last ? { 'Last-Event-ID': last } : {}), ...o.headers?.() },
        cache: 'no-store',
        signal: turn.signal,
      });
      if (refused(res.status)) {
        o.onRefused(res.status);
        break;
      }
      if (res.ok && res.body) {
        o.onState('open', attempt);
        const parser = createParser({
          onEvent: (e) => {
            attempt = 0;
            if (e.id) last = e.id;
            o.onData(e.data);
          },
          onRetry: (ms) => (serverRetry = ms),
        });
        for await (const text of chunks(res.body)) {
          alive();
          if (o.signal.aborted) break;
          parser.feed(text);
        }
      }
    } catch {
      // Lost, refused by the network, or given up by the watchdog: all are answered by another attempt.
    } finally {
      clearTimeout(watchdog);
      o.signal.removeEventListener('abort', abort);
      turn.abort();
    }
    if (o.signal.aborted) break;
    attempt++;
    o.onState('reconnecting', attempt);
    const backoff = Math.min(o.maxBackoffMs ?? 30_000, serverRetry * 2 ** Math.min(attempt - 1, 6));
    await wait(backoff * (0.75 + (o.random ?? Math.random)() * 0.5), o.signal, o.hurry);
  }
  o.onState('closed', attempt);
}

const refused = (status: number) => status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429;

async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function wait(ms: number, signal: AbortSignal, hurry?: EventTarget): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      hurry?.removeEventListener('hurry', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    hurry?.addEventListener('hurry', done);
  });
}
