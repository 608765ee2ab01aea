import { createParser } from 'eventsource-parser';

export type StreamState = 'connecting' | 'open' | 'reconnecting' | 'closed';

export interface StreamOptions {
  /** The last event that is already known; 0 asks for everything. */
  from: number;
  /** The data of one event, and the name that it came under. */
  onData: (data: string, type: string | undefined) => void;
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
    const idleMs = o.idleMs ?? 45_000;
    let heard = performance.now();
    // Set again only when it is over: a new one for each piece of a fast answer would cost more than reading it.
    let watchdog: ReturnType<typeof setTimeout> | undefined;
    const watch = (left: number) => {
      watchdog = setTimeout(() => {
        const silent = performance.now() - heard;
        if (silent >= idleMs) abort();
        else watch(idleMs - silent);
      }, left);
    };
    watch(idleMs);
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    try {
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
            o.onData(e.data, e.event);
          },
          onRetry: (ms) => (serverRetry = ms),
        });
        const decoder = new TextDecoder();
        reader = res.body.getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done || o.signal.aborted) break;
          heard = performance.now();
          parser.feed(decoder.decode(value, { stream: true }));
        }
      }
    } catch {
      // Lost, refused by the network, or given up by the watchdog: all are answered by another attempt.
    } finally {
      clearTimeout(watchdog);
      reader?.cancel().catch(() => undefined);
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
