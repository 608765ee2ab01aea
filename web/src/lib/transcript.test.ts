import { expect, test } from 'vitest';
import { Malformed } from './check';
import { empty } from './conversation';
import { reduce } from './reduce';
import { readSnapshot } from './transcript';
import { readEvent, type WireEvent } from './wire';

const at = '2026-11-29T20:00:00Z';
const log = [
  { type: 'message', seq: 1, run_id: 'r1', at, message_id: 'u1', role: 'user', text: 'hi' },
  {
    type: 'run_started',
    seq: 2,
    run_id: 'r1',
    at,
    cause: 'message',
    message_id: 'u1',
    env_id: 'ss-dev',
    ui_context: { objectType: 'chart' },
    tools: [],
  },
  {
    type: 'tool_start',
    seq: 3,
    run_id: 'r1',
    at,
    call_id: 't1',
    tool: 'x',
    args: { a: 1 },
    env_id: 'ss-dev',
    risk: { tool: 'read', env: 'dev', permission: 'granted' },
  },
  {
    type: 'tool_result',
    seq: 4,
    run_id: 'r1',
    at,
    call_id: 't1',
    tool: 'x',
    duration_ms: 5,
    summary: 's',
    preview: null,
    artifact: null,
    links: [],
  },
  { type: 'usage', seq: 5, run_id: 'r1', at, input_tokens: 3, output_tokens: 4 },
  { type: 'text_delta', seq: 6, run_id: 'r1', at, message_id: 'a1', offset: 0, text: 'par' },
  { type: 'text_delta', seq: 7, run_id: 'r1', at, message_id: 'a1', offset: 3, text: 'tial' },
];
const items = [
  { kind: 'message', seq: 1, run_id: 'r1', at, state: 'final', message_id: 'u1', role: 'user', text: 'hi' },
  {
    kind: 'run',
    seq: 2,
    run_id: 'r1',
    at,
    state: 'going',
    start: log[1],
    usage: { input_tokens: 3, output_tokens: 4 },
  },
  { kind: 'call', seq: 3, run_id: 'r1', at, state: 'done', call_id: 't1', tool: 'x', start: log[2], end: log[3] },
  { kind: 'message', seq: 6, run_id: 'r1', at, state: 'partial', message_id: 'a1', role: 'assistant', text: 'partial' },
];
const body = { id: 'c1', title: 'T', items, open_confirmations: [], active_run: 'r1', last_event_id: 7 };

test('a reload shows what was seen live', () => {
  const live = log.map((e) => readEvent(e)).reduce((c, e) => (e ? reduce(c, e) : c), empty);
  expect(readSnapshot(body, '').conversation).toEqual(live);
});

test('the stream goes on from the snapshot, and what both have comes once', () => {
  const { conversation } = readSnapshot(body, '');
  const more: WireEvent = { type: 'text_delta', seq: 8, run_id: 'r1', at, message_id: 'a1', offset: 7, text: '!' };
  const again = readEvent(log[6]) as WireEvent;
  const c = [again, more].reduce(reduce, conversation);
  expect(c.items.at(-1)).toMatchObject({ id: 'a1', text: 'partial!', live: true });
});

test('an empty conversation', () => {
  expect(readSnapshot({ id: 'c', title: '', items: null, last_event_id: 0 }, '').conversation).toEqual(empty);
});

test('kinds of items that the page does not know are left out', () => {
  const unknown = { kind: 'plan', seq: 9, start: { type: 'plan', seq: 9 } };
  expect(readSnapshot({ ...body, items: [...items, unknown] }, '').conversation.items).toHaveLength(3);
});

test.each([[{ ...body, last_event_id: '7' }], [{ ...body, items: [{ kind: 'message', seq: 1, text: 'x' }] }], [null]])(
  'malformed: %#',
  (v) => {
    expect(() => readSnapshot(v, '')).toThrow(Malformed);
  },
);
