// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Api } from '../api';
import { aConfirm } from '../../../tests/page';
import type { Confirm } from '../conversation';
import { Session } from './session.svelte';

type Answer = [number, unknown] | Promise<[number, unknown]>;
const at = '2026-11-29T20:00:00Z';

/** A session whose server is a table of answers; streams stay open and are fed by hand. */
function make(answers: Record<string, (body: Record<string, unknown>, n: number) => Answer>) {
  const asked: string[] = [];
  const bodies: Record<string, unknown>[] = [];
  const streams: { feed: (e: object) => void; from: string | null; open: boolean }[] = [];
  const fetcher = (async (url: unknown, init?: RequestInit) => {
    const path = String(url).replace('http://x/', '');
    if (path.endsWith('/events')) {
      const stream: (typeof streams)[number] = {
        feed: () => undefined,
        from: new Headers(init?.headers).get('Last-Event-ID'),
        open: true,
      };
      streams.push(stream);
      return new Response(
        new ReadableStream({
          start(c) {
            stream.feed = (e) => {
              const seq = (e as { seq?: number }).seq ?? 0;
              c.enqueue(
                new TextEncoder().encode(`id: ${seq}\ndata: ${JSON.stringify({ run_id: 'r1', at, ...e })}\n\n`),
              );
            };
            init?.signal?.addEventListener('abort', () => {
              stream.open = false;
              c.error(new Error('aborted'));
            });
          },
        }),
      );
    }
    const key = `${init?.method ?? 'GET'} ${path}`;
    asked.push(key);
    const body = init?.body ? (JSON.parse(String(init.body)) as Record<string, unknown>) : {};
    bodies.push(body);
    const found = answers[key];
    if (!found) throw new Error(`not expected: ${key}`);
    const [status, v] = await found(body, asked.filter((a) => a === key).length);
    if (status === 0) throw new TypeError('network');
    return new Response(status === 204 ? null : JSON.stringify(v), { status });
  }) as typeof fetch;
  vi.stubGlobal('fetch', fetcher);
  const told = {
    created: vi.fn(),
    happened: vi.fn(),
    restored: vi.fn(),
    malformed: vi.fn(),
    unknown: vi.fn(),
    signedOut: vi.fn(),
  };
  const session = new Session(new Api('http://x/', fetcher), told);
  return { session, asked, bodies, streams, told };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
const settle = (ms = 200) => vi.advanceTimersByTimeAsync(ms);
const taken = { run_id: 'r1', message_id: 'u1' };
const begun = [
  { type: 'message', seq: 1, message_id: 'u1', role: 'user', text: 'hi' },
  { type: 'run_started', seq: 2, cause: 'message', message_id: 'u1', tools: [] },
];

test('a first message makes the conversation, follows it, and is replaced by its own event', async () => {
  const m = make({
    'POST conversations': () => [201, { id: 'c1' }],
    'POST conversations/c1/messages': () => [202, taken],
  });
  const sent = m.session.send('hi', { objectType: 'chart', objectId: '7' }, 'ss-dev');
  expect(m.session.pending).toMatchObject({ text: 'hi' });
  await settle();
  expect(await sent).toBe(true);
  expect(m.told.created.mock.calls).toEqual([['c1']]);
  expect(m.bodies[1]).toMatchObject({
    message: 'hi',
    env_id: 'ss-dev',
    ui_context: { objectType: 'chart', objectId: '7' },
  });
  begun.forEach((e) => m.streams[0]?.feed(e));
  await settle();
  expect(m.session.pending).toBeNull();
  expect(m.session.running).toBe(true);
  m.session.destroy();
});

test('a message that got no answer is sent again under the same key, a refused one keeps its reason', async () => {
  const m = make({
    'POST conversations': () => [201, { id: 'c1' }],
    'POST conversations/c1/messages': (_b, n) =>
      n === 1 ? [0, null] : n === 2 ? [409, { code: 'run_active' }] : [202, taken],
  });
  expect(await m.session.send('hi', {}, '')).toBe(false);
  expect(m.session.refusal?.status).toBe(0);
  expect(await m.session.send('hi', {}, '')).toBe(false);
  expect(m.session.refusal?.code).toBe('run_active');
  expect(await m.session.send('hi', {}, '')).toBe(true);
  const keys = m.bodies.filter((b) => b.message).map((b) => b.idempotency_key);
  expect(new Set(keys).size).toBe(1);
  m.session.destroy();
});

const snapshot = (id: string, last = 2) => ({
  id,
  title: id,
  items: [{ kind: 'message', seq: 1, run_id: 'r1', at, state: 'final', message_id: `m-${id}`, role: 'user', text: id }],
  last_event_id: last,
});

test('a conversation that was left while it loaded shows nothing in the next one', async () => {
  let release: (v: [number, unknown]) => void = () => undefined;
  const m = make({
    'GET conversations/a': () => new Promise((done) => (release = done)),
    'GET conversations/b': () => [200, snapshot('b')],
  });
  const first = m.session.show('a');
  await m.session.show('b');
  release([200, snapshot('a')]);
  await first;
  await settle();
  expect(m.session.conversation.items.map((i) => i.id)).toEqual(['m-b']);
  expect(m.streams.map((s) => s.from)).toEqual(['2']);
  m.session.destroy();
});

test('an event of the conversation before is not heard in the next', async () => {
  const m = make({
    'GET conversations/a': () => [200, snapshot('a')],
    'GET conversations/b': () => [200, snapshot('b')],
  });
  await m.session.show('a');
  await settle(0);
  m.streams[0]?.feed({ type: 'message', seq: 3, message_id: 'late', role: 'assistant', text: 'a' });
  await m.session.show('b');
  await settle();
  expect(m.session.conversation.items.map((i) => i.id)).toEqual(['m-b']);
  expect(m.streams[0]?.open).toBe(false);
  m.session.destroy();
});

test('a reset reads the conversation again and goes on from there', async () => {
  const m = make({ 'GET conversations/a': (_b, n) => [200, snapshot('a', n === 1 ? 2 : 40)] });
  await m.session.show('a');
  await settle(0);
  m.streams[0]?.feed({ type: 'reset', seq: 30 });
  await settle();
  expect(m.streams.map((s) => s.from)).toEqual(['2', '40']);
  m.session.destroy();
});

test('a hidden tab keeps its stream only while something runs', async () => {
  const m = make({ 'GET conversations/a': () => [200, snapshot('a')] });
  await m.session.show('a');
  await settle(0);
  m.session.setVisible(false);
  expect(m.streams[0]?.open).toBe(false);
  m.session.setVisible(true);
  await settle(0);
  m.streams[1]?.feed({ type: 'run_started', seq: 3, cause: 'message', tools: [] });
  await settle();
  m.session.setVisible(false);
  expect(m.streams[1]?.open).toBe(true);
  m.session.destroy();
});

test('an answer to a card that got no answer itself is compared with the server first', async () => {
  const m = make({
    'GET conversations/a': () => [200, snapshot('a')],
    'POST conversations/a/confirmations/q1': (_b, n) =>
      n === 1 ? [0, null] : [200, { state: 'claimed', replayed: true }],
  });
  await m.session.show('a');
  const card = aConfirm();
  await m.session.decide(card, 'approve');
  expect(m.session.deciding.q1).toMatchObject({ state: 'failed', decision: 'approve' });
  expect(m.asked.filter((a) => a === 'GET conversations/a')).toHaveLength(2);
  await m.session.decide(card, 'approve');
  expect(m.session.deciding.q1?.state).toBe('sent');
  await m.session.decide(card, 'reject');
  expect(m.asked.filter((a) => a.startsWith('POST'))).toHaveLength(2);
  m.session.destroy();
});

test('a lost session is told, whatever lost it', async () => {
  const m = make({ 'GET conversations/a': () => [200, snapshot('a')], 'POST conversations/a/cancel': () => [401, {}] });
  await m.session.show('a');
  await m.session.stop();
  expect(m.told.signedOut).toHaveBeenCalledTimes(1);
  m.session.destroy();
});

test('a malformed frame is reported and the rest goes on', async () => {
  const m = make({ 'GET conversations/a': () => [200, snapshot('a')] });
  await m.session.show('a');
  await settle(0);
  m.streams[0]?.feed({ type: 'message', seq: 3 });
  m.streams[0]?.feed({ type: 'message', seq: 4, message_id: 'ok', role: 'assistant', text: 'x' });
  await settle();
  expect(m.told.malformed).toHaveBeenCalledTimes(1);
  expect(m.session.conversation.items.map((i) => i.id)).toEqual(['m-a', 'ok']);
  m.session.destroy();
});

describe('who decided', () => {
  const asked = {
    type: 'confirm_required',
    call_id: 't1',
    tool: 'update_dashboard',
    args: {},
    args_digest: 'digest',
    risk: { tool: 'write', env: 'dev', permission: 'granted' },
    dangerous: false,
    countdown_seconds: 0,
    allowed_decisions: ['approve', 'reject'],
    preview: {},
    expires_at: at,
  };
  const answered = { type: 'confirm_resolved', confirmation_id: 'q1', by: 'anna' };
  const open = async (answers: Parameters<typeof make>[0] = {}) => {
    const m = make({ 'GET conversations/a': () => [200, snapshot('a')], ...answers });
    await m.session.show('a');
    await settle(0);
    m.streams[0]?.feed({ ...asked, seq: 3, confirmation_id: 'q1' });
    await settle();
    expect(m.session.open).toHaveLength(1);
    return m;
  };
  const card = (m: Awaited<ReturnType<typeof open>>) => m.session.open[0] as Confirm;

  test.each([
    ['approved', 'elsewhere'],
    ['edited', 'elsewhere'],
    ['rejected', 'elsewhere'],
    ['expired', undefined],
    ['superseded', undefined],
  ])('a card that was %s without a click here is decided %s', async (decision, state) => {
    const m = await open();
    m.streams[0]?.feed({ ...answered, seq: 4, decision });
    await settle();
    expect(m.session.open).toHaveLength(0);
    expect(m.session.deciding.q1?.state).toBe(state);
    m.session.destroy();
  });

  test('a click that came second shows the decision of the first', async () => {
    let release: (v: [number, unknown]) => void = () => undefined;
    const m = await open({ 'POST conversations/a/confirmations/q1': () => new Promise((done) => (release = done)) });
    const sent = m.session.decide(card(m), 'approve');
    m.streams[0]?.feed({ ...answered, seq: 4, decision: 'rejected' });
    await settle();
    release([409, { code: 'already_decided' }]);
    await sent;
    expect(m.session.deciding.q1).toEqual({ state: 'elsewhere', decision: 'approve' });
    m.session.destroy();
  });

  test('a click that was too early is no decision of another tab', async () => {
    const m = await open({ 'POST conversations/a/confirmations/q1': () => [409, { code: 'too_early' }] });
    await m.session.decide(card(m), 'approve');
    expect(m.session.deciding.q1?.state).toBe('failed');
    m.session.destroy();
  });

  test('stopping decides here; a stop that failed lets the card be answered', async () => {
    const m = await open({ 'POST conversations/a/cancel': (_b, n) => (n === 1 ? [503, {}] : [202, {}]) });
    await m.session.stop();
    expect(m.session.deciding.q1).toBeUndefined();
    await m.session.stop();
    m.streams[0]?.feed({ ...answered, seq: 4, decision: 'rejected' });
    await settle();
    expect(m.session.deciding.q1?.state).toBe('sent');
    m.session.destroy();
  });
});
