import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { empty, type Conversation } from '../conversation';
import { Feed } from './feed';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.stubGlobal('requestAnimationFrame', (f: () => void) => setTimeout(f, 16));
  vi.stubGlobal('cancelAnimationFrame', (n: NodeJS.Timeout) => clearTimeout(n));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
const pass = (ms: number) => vi.advanceTimersByTime(ms);

/** A feed whose drawings take as long as is said; `drawn` has the number of events of each. */
function feed(drawingMs = 0) {
  let now: Conversation = empty;
  const drawn: number[] = [];
  const malformed: string[] = [];
  const unknown: number[] = [];
  const f = new Feed({
    current: () => now,
    apply: (next, events) => {
      now = next;
      drawn.push(events.length);
      // Only the clock moves while the page draws.
      const began = performance.now();
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => began + drawingMs);
      setTimeout(() => clock.mockRestore(), 3);
    },
    malformed: (e) => malformed.push(e.message),
    unknown: () => unknown.push(1),
  });
  let seq = 0;
  return {
    f,
    drawn,
    malformed,
    unknown,
    text: () => now.items.map((i) => (i.kind === 'message' ? i.text : '')).join(''),
    delta: () => {
      seq++;
      f.push(JSON.stringify({ type: 'text_delta', seq, message_id: 'a', offset: seq - 1, text: 'x' }), 'text_delta');
    },
    ask: () =>
      f.push(JSON.stringify({ type: 'message', seq: ++seq, message_id: 'u', role: 'user', text: '?' }), 'message'),
  };
}

test('the first piece is drawn with the next frame, those of the next 40 ms together', () => {
  const p = feed();
  p.delta();
  expect(p.drawn).toEqual([]);
  pass(16);
  expect(p.drawn).toEqual([1]);
  for (let n = 0; n < 10; n++) {
    p.delta();
    pass(1);
  }
  expect(p.drawn).toEqual([1]);
  pass(60);
  expect(p.drawn).toEqual([1, 10]);
  expect(p.text()).toBe('x'.repeat(11));
});

test('what is no text is drawn at once, with the text before it', () => {
  const p = feed();
  p.delta();
  pass(16);
  p.delta();
  p.ask();
  pass(16);
  expect(p.drawn).toEqual([1, 2]);
});

test('text waits four times as long as the last drawing took, and never longer than a quarter of a second', () => {
  for (const [took, waits] of [
    [30, 120],
    [500, 250],
  ] as const) {
    const p = feed(took);
    p.delta();
    pass(16);
    pass(4);
    p.delta();
    pass(took + waits - 30);
    expect(p.drawn).toEqual([1]);
    pass(50);
    expect(p.drawn).toEqual([1, 1]);
  }
});

test('a tab that draws no frames goes on all the same', () => {
  vi.stubGlobal('requestAnimationFrame', () => 1);
  const p = feed();
  p.delta();
  pass(100);
  expect(p.drawn).toEqual([1]);
});

test('a frame that cannot be read is told, and the rest is drawn; what was cleared is not', () => {
  const p = feed();
  p.delta();
  p.f.push('{"type":"text_delta"', 'text_delta');
  p.f.push('{"type":"of_tomorrow","seq":9}', 'of_tomorrow');
  p.delta();
  pass(16);
  expect(p.text()).toBe('xx');
  expect(p.malformed).toHaveLength(1);
  expect(p.unknown).toHaveLength(1);
  p.ask();
  p.f.clear();
  pass(500);
  expect(p.text()).toBe('xx');
});
