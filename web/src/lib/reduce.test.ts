import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { empty, type Call, type Confirm, type Conversation, type Message, type RunEnd } from './conversation';
import { parseJson } from './json';
import { reduce } from './reduce';
import { readEvent, type EventOf, type EventType, type WireEvent } from './wire';

const dir = join(import.meta.dirname, '../../../internal/httpapi/testdata/events');
const fixtures = readdirSync(dir)
  .filter((f) => f.endsWith('.json'))
  .flatMap((f) => parseJson(readFileSync(join(dir, f), 'utf8')) as unknown[])
  .map((v) => readEvent(v))
  .filter((e) => e !== null);

let seq = 0;
const ev = <T extends EventType>(type: T, rest: Omit<EventOf<T>, 'type' | 'seq'>): WireEvent =>
  ({ type, seq: ++seq, run_id: 'r1', at: '2026-11-29T20:00:00Z', ...rest }) as unknown as WireEvent;
const run = (...events: WireEvent[]): Conversation => events.reduce(reduce, empty);
const begin = (text = 'hi') => [
  ev('message', { message_id: 'u1', role: 'user', text }),
  ev('run_started', { cause: 'message', message_id: 'u1', tools: [], env_id: 'ss-dev' }),
];
const risk = (tool: string) => ({ tool, env: 'dev', permission: 'granted' });
const started = (call_id: string, tool = 'get_dashboard', kind = 'read', more = {}) =>
  ev('tool_start', { call_id, tool, args: { id: 1 }, risk: risk(kind), ...more });
const confirmRequired = (id: string) =>
  ev('confirm_required', {
    confirmation_id: id,
    call_id: `call_${id}`,
    tool: 'update_chart',
    args: { chart: 7 },
    args_digest: 'd',
    env_id: 'ss-dev',
    risk: risk('write'),
    dangerous: false,
    countdown_seconds: 0,
    allowed_decisions: ['approve', 'reject'],
    preview: { diff: [], blast_radius: [], owners: [], notes: [], untrusted: [], references: [] },
    expires_at: '2026-11-29T21:00:00Z',
  });
const callOf = (c: Conversation, id: string) => c.items.find((i): i is Call => i.kind === 'call' && i.id === id);
const textOf = (c: Conversation, id: string) =>
  c.items.find((i): i is Message => i.kind === 'message' && i.id === id)?.text;

describe('every event of the fixtures', () => {
  const numbered = fixtures.map((e, i) => ({ ...e, seq: i + 1 }) as WireEvent);

  test('changes nothing when it is applied twice, alone or all again', () => {
    let c = empty;
    for (const e of numbered) {
      c = reduce(c, e);
      expect(reduce(c, e)).toBe(c);
    }
    expect(numbered.reduce(reduce, c)).toBe(c);
  });

  test('leaves what it was given untouched', () => {
    const freeze = <T>(v: T): T => {
      if (v !== null && typeof v === 'object') Object.values(Object.freeze(v)).forEach(freeze);
      return v;
    };
    let c = freeze({ ...empty });
    for (const e of numbered) c = freeze(reduce(c, freeze(e)));
    expect(c.seq).toBe(numbered.length);
  });

  test('gives the same whether it comes in one piece or split at any place', () => {
    const whole = numbered.reduce(reduce, empty);
    for (let cut = 0; cut <= numbered.length; cut++) {
      const first = numbered.slice(0, cut).reduce(reduce, empty);
      expect(numbered.slice(Math.max(0, cut - 2)).reduce(reduce, first)).toEqual(whole);
    }
  });
});

describe('text', () => {
  const delta = (offset: number, text: string) => ev('text_delta', { message_id: 'a1', offset, text });

  test.each([
    [
      'in order',
      [
        [0, 'ab'],
        [2, 'cd'],
      ],
      'abcd',
    ],
    [
      'again from the beginning',
      [
        [0, 'ab'],
        [2, 'cd'],
        [0, 'x'],
      ],
      'x',
    ],
    [
      'from the middle',
      [
        [0, 'abcd'],
        [2, 'X'],
      ],
      'abX',
    ],
    [
      'offsets count code points',
      [
        [0, '😀é'],
        [2, 'b'],
        [1, 'c'],
      ],
      '😀c',
    ],
    [
      'the same twice',
      [
        [0, 'ab'],
        [0, 'ab'],
        [2, 'c'],
        [2, 'c'],
      ],
      'abc',
    ],
  ] as [string, [number, string][], string][])('%s', (_name, deltas, want) => {
    expect(textOf(run(...begin(), ...deltas.map(([o, t]) => delta(o, t))), 'a1')).toBe(want);
  });

  test('the message replaces its deltas, and a late delta says nothing any more', () => {
    const c = run(
      ...begin(),
      delta(0, 'draft'),
      ev('message', { message_id: 'a1', role: 'assistant', text: 'final' }),
      delta(5, '!'),
    );
    expect(textOf(c, 'a1')).toBe('final');
    expect(c.items.filter((i) => i.kind === 'message')).toHaveLength(2);
  });
});

describe('calls', () => {
  test('a read that is tried again and fails keeps its retry button; its repetition takes it away', () => {
    let c = run(
      ...begin(),
      started('t1'),
      ev('tool_retry', {
        call_id: 't1',
        tool: 'x',
        attempt: 2,
        max_attempts: 2,
        delay_ms: 1000,
        reason: { class: 'transient', status: 503 },
      }),
    );
    expect(callOf(c, 't1')).toMatchObject({ state: 'retrying', attempt: 2, maxAttempts: 2 });
    c = reduce(
      c,
      ev('tool_error', {
        call_id: 't1',
        tool: 'x',
        class: 'transient',
        message: 'm',
        retryable: true,
        retry_exhausted: true,
      }),
    );
    expect(callOf(c, 't1')).toMatchObject({ state: 'failed', retryable: true, retryExhausted: true });
    c = reduce(c, started('t2', 'get_dashboard', 'read', { retry_of: 't1' }));
    expect(callOf(c, 't1')?.retriedBy).toBe('t2');
  });

  test.each(['timeout', 'connection_lost', 'gateway', 'restart'])(
    'a write without an answer (%s) is unknown, and never offered again',
    (cause) => {
      const c = run(
        ...begin(),
        started('t1', 'update_chart', 'write'),
        // A server that says retryable here is not believed.
        ev('tool_timeout', {
          call_id: 't1',
          tool: 'update_chart',
          cause,
          timeout_ms: 1,
          is_write_tool: true,
          retryable: true,
          outcome: 'unknown',
        }),
      );
      expect(callOf(c, 't1')).toMatchObject({ state: 'unknown', retryable: false });
      expect(c.runs.r1?.wrote).toBe(true);
    },
  );

  test('what was found by reading back is not overtaken by a late answer', () => {
    const c = run(
      ...begin(),
      started('t1', 'update_chart', 'write'),
      ev('tool_timeout', {
        call_id: 't1',
        tool: 'u',
        cause: 'timeout',
        timeout_ms: 1,
        is_write_tool: true,
        retryable: false,
        outcome: 'unknown',
      }),
      ev('tool_outcome', { call_id: 't1', outcome: 'not_applied', evidence: 'e' }),
      ev('tool_result', { call_id: 't1', tool: 'u', duration_ms: 1, summary: 's', links: [] }),
    );
    expect(callOf(c, 't1')).toMatchObject({ state: 'unknown', outcome: 'not_applied', evidence: 'e' });
  });

  test('a refused call has a card although it never began', () => {
    const c = run(...begin(), ev('permission_denied', { call_id: 't9', tool: 'delete_dashboard', reason: 'role' }));
    expect(callOf(c, 't9')).toMatchObject({ state: 'denied', tool: 'delete_dashboard', why: 'role', retryable: false });
  });

  test('nothing spins after the end of its run, and nothing of another run is touched', () => {
    const c = run(
      ...begin(),
      started('t1'),
      { ...started('t2'), run_id: 'other' } as WireEvent,
      ev('text_delta', { message_id: 'a1', offset: 0, text: 'x' }),
      ev('run_finished', { outcome: 'cancelled' }),
    );
    expect(callOf(c, 't1')?.state).toBe('stopped');
    expect(callOf(c, 't2')?.state).toBe('running');
    expect(c.items.some((i) => i.kind === 'message' && i.live)).toBe(false);
    expect(c.activeRun).toBeNull();
    expect(c.items.findLast((i): i is RunEnd => i.kind === 'end')?.outcome).toBe('cancelled');
  });
});

describe('confirmations', () => {
  test.each(['approved', 'edited', 'rejected', 'expired', 'superseded'] as const)('are closed by %s', (decision) => {
    const c = run(
      ...begin(),
      confirmRequired('q1'),
      ev('confirm_resolved', { confirmation_id: 'q1', decision, by: 'anna', reason: 'no' }),
    );
    expect(c.items.find((i): i is Confirm => i.kind === 'confirm')).toMatchObject({
      state: decision,
      by: 'anna',
      reason: 'no',
    });
  });

  test('a call that runs after an approval knows its arguments even if it fails before it begins', () => {
    const c = run(
      ...begin(),
      confirmRequired('q1'),
      ev('permission_denied', { call_id: 'call_q1', tool: 'update_chart', reason: 'superset' }),
    );
    expect(callOf(c, 'call_q1')?.args).toEqual({ chart: 7 });
  });

  test('a decision about an unknown card is ignored', () => {
    expect(run(ev('confirm_resolved', { confirmation_id: 'q9', decision: 'approved', by: 'x' })).items).toEqual([]);
  });
});

test('an edited message folds itself and what followed, but not what its own run has begun', () => {
  const c = run(
    ...begin(),
    ev('message', { message_id: 'a1', role: 'assistant', text: 'old answer' }),
    ev('run_finished', { outcome: 'answered' }),
    { ...ev('run_started', { cause: 'message', message_id: 'u2', tools: [] }), run_id: 'r2' } as WireEvent,
    { ...ev('message', { message_id: 'u2', role: 'user', text: 'new', replaces: 'u1' }), run_id: 'r2' } as WireEvent,
    { ...ev('message', { message_id: 'a2', role: 'assistant', text: 'new answer' }), run_id: 'r2' } as WireEvent,
  );
  expect(c.items.map((i) => [i.id, i.folded])).toEqual([
    ['u1', true],
    ['a1', true],
    ['r1', true],
    ['u2', false],
    ['a2', false],
  ]);
});

test('a run adds up its usage', () => {
  const c = run(
    ...begin(),
    ev('usage', { input_tokens: 10, output_tokens: 1 }),
    ev('usage', { input_tokens: 5, output_tokens: 2, cost: 0.5 }),
  );
  expect(c.runs.r1).toMatchObject({ inputTokens: 15, outputTokens: 3, cost: 0.5 });
});

test('reset says that the log must be read again', () => {
  expect(run(...begin(), { type: 'reset', seq: 0 })).toMatchObject({ stale: true });
});
