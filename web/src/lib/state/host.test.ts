// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ToHost } from '../../embed/protocol';
import { fakeApp, type Sent } from '../../../tests/page';
import type { Bridge } from '../bridge';

// Who is signed in, where a page of Superset is around this one.

let user: string | null;
let answers: Record<string, number>;

beforeEach(() => {
  vi.useFakeTimers();
  user = 'anna';
  answers = {};
});
afterEach(() => void vi.useRealTimers());

function embedded(handover = true) {
  const { app, sent } = fakeApp((r: Sent) => {
    const status = answers[`${r.method} ${r.path}`];
    if (status) return [status, { code: 'x' }];
    if (r.path === 'handover') return [204, null];
    if (user === null) return [401, { code: 'unauthenticated' }];
    if (r.path === 'me') return [200, { user, roles: [] }];
    if (r.path.startsWith('conversations')) return [200, { conversations: [] }];
    return [200, { environments: [], confirmations: [] }];
  });
  const said: ToHost['type'][] = [];
  app.bridge = { handover, send: (m: ToHost) => void said.push(m.type) } as unknown as Bridge;
  const restarted = vi.fn();
  app.restart = restarted;
  const handovers = () => sent.filter((r) => r.path === 'handover').map((r) => [r.method, r.body]);
  const asked = () => said.filter((t) => t === 'needToken').length;
  return { app, handovers, asked, said, restarted };
}

test('the host is asked who is logged in, at most every five seconds', async () => {
  const { app, asked } = embedded();
  await app.checkIdentity();
  expect(asked()).toBe(1);
  vi.advanceTimersByTime(4999);
  await app.checkIdentity();
  expect(asked()).toBe(1);
  vi.advanceTimersByTime(1);
  await app.checkIdentity();
  expect(asked()).toBe(2);
});

test('without a hand-over the host is never asked', async () => {
  const { app, asked } = embedded(false);
  user = null;
  await app.checkIdentity();
  app.hostReady();
  expect(app.blocked).toBe('signed-out');
  expect(asked()).toBe(0);
});

test('it is asked twice a minute', async () => {
  const { app, asked } = embedded();
  await app.start();
  expect(asked()).toBe(1);
  await vi.advanceTimersByTimeAsync(29_999);
  expect(asked()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked()).toBe(2);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked()).toBe(3);
  app.destroy();
});

test('a token opens a session; nobody ends it, and that is not asked again at once', async () => {
  const { app, asked, handovers } = embedded();
  user = null;
  await app.start();
  expect([app.blocked, asked()]).toEqual(['signed-out', 1]);
  user = 'anna';
  await app.signIn('t1');
  expect([app.blocked, app.me?.user]).toEqual([null, 'anna']);
  user = null;
  await app.signIn(null);
  expect([app.blocked, asked()]).toEqual(['signed-out', 1]);
  expect(handovers()).toEqual([
    ['POST', { token: 't1' }],
    ['DELETE', {}],
  ]);
  app.destroy();
});

test('a token that does not count is no reason to ask without end', async () => {
  const { app, asked } = embedded();
  user = null;
  answers['POST handover'] = 401;
  await app.start();
  for (let i = 0; i < 10; i++) await app.signIn('bad');
  expect([app.blocked, asked()]).toEqual(['signed-out', 1]);
  app.destroy();
});

test('a host that is met after the first refusal is asked then', async () => {
  const { app, asked } = embedded();
  user = null;
  const { bridge } = app;
  app.bridge = null;
  await app.start();
  expect([app.blocked, asked()]).toEqual(['signed-out', 0]);
  app.bridge = bridge;
  app.hostReady();
  expect(asked()).toBe(1);
  app.destroy();
});

test('where the server makes no sessions the token goes with each request, until nobody is logged in', async () => {
  const { app, handovers } = embedded();
  answers['POST handover'] = 404;
  await app.signIn('t1');
  expect(app.api.headers()).toMatchObject({ Authorization: 'Bearer t1' });
  await app.signIn('t2');
  expect(app.api.headers()).toMatchObject({ Authorization: 'Bearer t2' });
  expect(handovers()).toEqual([['POST', { token: 't1' }]]);
  await app.signIn(null);
  expect(app.api.headers()).not.toHaveProperty('Authorization');
  expect(app.blocked).toBe('signed-out');
});

test('for another user nothing of the first is left', async () => {
  const { app, restarted } = embedded();
  await app.start();
  app.session.id = 'c1';
  app.session.title = "anna's";
  app.draft = "anna's";
  app.editing = 'm1';
  app.artifact = { id: 'a1', title: "anna's", format: 'csv' };
  app.list = [{ id: 'c1', title: "anna's", updated_at: '', open_confirmations: 0 }];
  app.listQuery = "anna's";
  app.listCursor = 'x';
  app.contextNote = "anna's";
  app.unseen = 3;
  app.notify("anna's");
  user = 'boris';
  await app.checkIdentity();
  expect(app.blocked).toBe('other-user');
  expect(restarted).toHaveBeenCalledTimes(1);
  const { draft, editing, artifact, list, listQuery, listCursor, inbox, contextNote, unseen, notices } = app;
  expect([draft, listQuery, listCursor, contextNote, unseen]).toEqual(['', '', '', '', 0]);
  expect([editing, artifact, app.session.id, app.session.title]).toEqual([null, null, null, '']);
  expect([list, inbox, notices]).toEqual([[], [], []]);
  app.destroy();
});

test('a panel that is opened asks for the name of what is looked at', async () => {
  const { app, said } = embedded();
  app.setPanelOpen(false);
  expect(said).not.toContain('look');
  app.setPanelOpen(true);
  expect(said.filter((t) => t === 'look').length).toBe(1);
});
