import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStream, type StreamOptions } from './sse';

type Step = (string | Uint8Array)[] | number;

/** A server that answers each connection with the next step: chunks and a cut, or a status. */
function server(...steps: Step[]) {
  const asked: (string | null)[] = [];
  const fetcher = (async (_url: unknown, init?: RequestInit) => {
    asked.push(new Headers(init?.headers).get('Last-Event-ID'));
    const step = steps.shift();
    if (step === undefined) return new Response(silent(init?.signal));
    if (typeof step === 'number') return new Response('', { status: step });
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream({
        start(c) {
          for (const s of step) c.enqueue(typeof s === 'string' ? encoder.encode(s) : s);
          c.close();
        },
      }),
    );
  }) as typeof fetch;
  return { asked, fetcher };
}

/** A body that says nothing until its connection is given up. */
const silent = (signal?: AbortSignal | null) =>
  new ReadableStream({ start: (c) => signal?.addEventListener('abort', () => c.error(new Error('aborted'))) });

function follow(s: ReturnType<typeof server>, more: Partial<StreamOptions> = {}) {
  const stop = new AbortController();
  const data: string[] = [];
  const states: string[] = [];
  const refused: number[] = [];
  const done = openStream('http://x/', {
    from: 0,
    signal: stop.signal,
    fetch: s.fetcher,
    random: () => 0.5,
    onData: (d) => data.push(d),
    onState: (st, n) => states.push(`${st} ${n}`),
    onRefused: (status) => refused.push(status),
    ...more,
  });
  return { stop, data, states, refused, done };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

test('a cut stream goes on after the last whole event; half a frame is dropped; split letters stay whole', async () => {
  const bytes = new TextEncoder().encode('id: 1\ndata: привет\n\n');
  const s = server(['retry: 10\n\n', bytes.slice(0, 15), bytes.slice(15), 'id: 2\ndata: b\n\n', 'id: 3\nda'], 503, [
    'id: 3\ndata: c\n\n',
  ]);
  const f = follow(s);
  await settle(1000);
  expect(f.data).toEqual(['привет', 'b', 'c']);
  expect(s.asked.slice(0, 4)).toEqual([null, '2', '2', '3']);
  f.stop.abort();
  await f.done;
  expect(f.states.at(-1)).toMatch(/^closed/);
});

test('a stored position is asked for on the first connection', async () => {
  const s = server();
  const f = follow(s, { from: 41 });
  await settle();
  expect(s.asked).toEqual(['41']);
  f.stop.abort();
});

test('the end of a run does not end the stream', async () => {
  const s = server(['id: 1\nevent: run_finished\ndata: {}\n\n', 'id: 2\ndata: next run\n\n']);
  const f = follow(s);
  await settle();
  expect(f.data).toEqual(['{}', 'next run']);
  f.stop.abort();
});

test.each([400, 401, 403, 404, 410])('%i is final', async (status) => {
  const f = follow(server(status));
  await settle();
  await f.done;
  expect(f.refused).toEqual([status]);
});

test.each([408, 425, 429, 500, 502, 503])('%i is tried again', async (status) => {
  const s = server(status, ['id: 1\ndata: x\n\n']);
  const f = follow(s);
  await settle(5000);
  expect(f.data).toEqual(['x']);
  expect(f.refused).toEqual([]);
  f.stop.abort();
});

test('a silent connection is given up, comments keep it', async () => {
  let enqueue: (s: string) => void = () => undefined;
  let connections = 0;
  const fetcher = (async (_u: unknown, init?: RequestInit) => {
    connections++;
    return new Response(
      new ReadableStream({
        start(c) {
          enqueue = (s) => c.enqueue(new TextEncoder().encode(s));
          init?.signal?.addEventListener('abort', () => c.error(new Error('aborted')));
        },
      }),
    );
  }) as typeof fetch;
  const f = follow({ asked: [], fetcher }, { idleMs: 45_000 });
  await settle(40_000);
  enqueue(': ping\n\n');
  await settle(40_000);
  expect(connections).toBe(1);
  await settle(6_000 + 3_000);
  expect(connections).toBe(2);
  f.stop.abort();
});

test('the pauses grow to their limit, and hurry ends one', async () => {
  const s = server(503, 503, 503, 503, 503, 503);
  const hurry = new EventTarget();
  const f = follow(s, { maxBackoffMs: 8000, hurry });
  await settle();
  const gaps: number[] = [];
  for (let n = 0; n < 4; n++) {
    const before = s.asked.length;
    let waited = 0;
    while (s.asked.length === before) {
      await settle(250);
      waited += 250;
    }
    gaps.push(waited);
  }
  expect(gaps).toEqual([2000, 4000, 8000, 8000]);
  const before = s.asked.length;
  hurry.dispatchEvent(new Event('hurry'));
  await settle(1);
  expect(s.asked.length).toBe(before + 1);
  f.stop.abort();
});

test('an aborted stream asks for nothing more', async () => {
  const s = server(503);
  const f = follow(s);
  await settle();
  f.stop.abort();
  await settle(60_000);
  await f.done;
  expect(s.asked).toHaveLength(1);
});
