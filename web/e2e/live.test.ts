import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Agentd } from './agentd';
import { open, quit, type Opened } from './browser';
import { Front } from './front';
import { answered, gate, Model, type Step } from './model';

// What reloads, second tabs, networks and dying servers do to a conversation, with the built server: nothing is lost,
// nothing is there twice. Superset is a process of its own, so that it outlives the server in front of it.

const model = new Model();
let superset: Agentd;
let wire: Front;
let server: Agentd;
let front: Front;
const opened: Opened[] = [];

beforeAll(async () => {
  await model.listen();
  superset = await Agentd.mock();
  wire = await new Front().route('/', superset.page).listen();
  server = await Agentd.serve(
    [
      'environments:',
      `  - {id: ss-dev, title: Dev, class: dev, base_url: '${wire.base}', auth: {mode: service, username: admin, password_env: SUPERSET_PASSWORD}}`,
    ],
    model.url,
  );
  front = await new Front().route('/', server.base).listen();
});
afterAll(async () => {
  await quit();
  await front.close();
  await server.stop();
  await wire.close();
  await superset.stop();
  await model.close();
});
beforeEach(() => {
  wire.hold = () => undefined;
});
afterEach(async () => {
  for (const o of opened.splice(0)) await o.close();
});

async function visit(url = `${front.base}/agent?lang=en`): Promise<Opened> {
  const o = await open(url);
  opened.push(o);
  await o.page.getByRole('combobox', { name: 'Environment' }).waitFor();
  return o;
}
async function say(o: Opened, text: string): Promise<void> {
  await o.page.locator('#composer').fill(text);
  await o.page.locator('#composer').press('Enter');
}
const done = (o: Opened) => o.page.getByRole('button', { name: 'Send' }).waitFor();
const seen = (o: Opened) => o.page.locator('main').innerText();
const times = (o: Opened, what: string): Promise<number> => seen(o).then((s) => s.split(what).length - 1);

const changes = () => superset.committed('dev', 'PUT', '/api/v1/dashboard/*');

const words = Array.from({ length: 60 }, (_, i) => `word${i} `);
const whole = words.join('').trim();
/** An answer that goes on after its middle when it is told to. */
const inTwo = (half: Promise<void>): Step[] => [...words.slice(0, 30), half, ...words.slice(30)];
const rename = (title: string): Step[] => [{ tool: 'update_dashboard', args: { dashboard: 1, patch: { title } } }];

/** The answer is there once, whole, in order, and a reload shows the same. */
async function once(o: Opened): Promise<void> {
  await done(o);
  expect(await times(o, whole)).toBe(1);
  expect(await times(o, 'word7 ')).toBe(1);
  const live = await seen(o);
  await o.page.reload();
  await o.page.getByText('word59').waitFor();
  await done(o);
  await expect.poll(() => seen(o)).toBe(live); // names of environments come by themselves
}

test('a reload in the middle of an answer', async () => {
  const half = gate();
  model.answer = () => inTwo(half.opened);
  const o = await visit();
  await say(o, 'go');
  await o.page.getByText('word29').waitFor();
  await o.page.reload();
  await o.page.getByText('word29').waitFor();
  await o.page.getByRole('button', { name: 'Stop' }).waitFor();
  half.open();
  await o.page.getByText('word59').waitFor();
  await once(o);
  expect(o.errors).toEqual([]);
});

test('a reload while a tool runs', async () => {
  const half = gate();
  wire.hold = (_m, path) => (path.startsWith('/api/v1/dashboard/?') ? half.opened : undefined);
  model.answer = (q) => (answered(q) ? words : [{ tool: 'search_dashboards', args: { query: 'sales' } }]);
  const o = await visit();
  await say(o, 'find');
  await o.page.locator('[data-state=running]').waitFor();
  await o.page.reload();
  await o.page.locator('[data-state=running]', { hasText: 'search_dashboards' }).waitFor();
  half.open();
  await o.page.locator('[data-state=done]', { hasText: 'search_dashboards' }).getByRole('table').waitFor();
  await o.page.getByText('word59').waitFor();
  await once(o);
  expect(await o.page.locator('[data-call]').count()).toBe(1);
});

test('a second tab that comes in the middle of an answer has it once, too', async () => {
  const half = gate();
  model.answer = () => inTwo(half.opened);
  const first = await visit();
  await say(first, 'go');
  await first.page.getByText('word29').waitFor();
  const second = await visit(first.page.url());
  await second.page.getByText('word29').waitFor();
  half.open();
  for (const o of [first, second]) {
    await o.page.getByText('word59').waitFor();
    await once(o);
  }
});

test('a connection cut in the middle of an answer, and a 503 before it is back', async () => {
  const half = gate();
  model.answer = () => inTwo(half.opened);
  const o = await visit();
  await say(o, 'go');
  await o.page.getByText('word29').waitFor();
  front.refuse = 1;
  front.cut();
  await o.page.getByTestId('reconnecting').waitFor();
  half.open();
  await o.page.getByText('word59').waitFor();
  expect(front.refuse).toBe(0);
  expect(await o.page.getByTestId('reconnecting').count()).toBe(0);
  await once(o);
});

test('kill -9 in the middle of an answer', async () => {
  let tries = 0;
  model.answer = () => (++tries === 1 ? inTwo(new Promise(() => undefined)) : words);
  const o = await visit();
  await say(o, 'go');
  await o.page.getByText('word29').waitFor();
  await server.end('SIGKILL');
  await o.page.getByTestId('reconnecting').waitFor();
  expect(await seen(o)).toContain('word29'); // what was there stays
  await server.start();
  await o.page.getByText('word59').waitFor();
  await once(o);
  expect(tries).toBe(2);
});

test('kill -9 while a question is open: it is still open, and is allowed once', async () => {
  model.answer = (q) => (answered(q) ? words : rename('Sales after the crash'));
  const o = await visit();
  const cards = async () => {
    await o.page.locator('[data-confirm][data-state=open]').waitFor();
    return o.page.locator('[data-confirm]').count();
  };
  await say(o, 'rename');
  expect(await cards()).toBe(1);
  const before = await changes();
  await server.end('SIGKILL');
  await o.page.getByTestId('reconnecting').waitFor();
  await server.start();
  await expect.poll(() => o.page.getByTestId('reconnecting').count(), { timeout: 20_000 }).toBe(0);
  expect(await cards()).toBe(1);
  await o.page.getByRole('button', { name: 'Run', exact: true }).click();
  await o.page.locator('[data-state=done]', { hasText: 'update_dashboard' }).waitFor();
  await o.page.getByText('word59').waitFor();
  await once(o);
  expect(await changes()).toBe(before + 1);
});

test('kill -9 while a change is on its way: nobody says that it was done', async () => {
  model.answer = (q) => (answered(q) ? words : rename('Sales that nobody saw'));
  const o = await visit();
  const before = await changes();
  await say(o, 'rename');
  let held: () => void = () => undefined;
  const arrived = new Promise<void>((there) => (held = there));
  wire.hold = (method) => {
    if (method !== 'PUT') return undefined;
    held();
    return new Promise(() => undefined);
  };
  await o.page.getByRole('button', { name: 'Run', exact: true }).click();
  await arrived;
  await server.end('SIGKILL');
  wire.hold = () => undefined;
  await server.start();
  const card = o.page.locator('[data-call][data-state=unknown]');
  await card.getByText('The change was not made').waitFor();
  expect(await card.getByRole('button').count()).toBe(0);
  await o.page.getByText('word59').waitFor();
  await once(o);
  expect(await changes()).toBe(before);
});

test('a restart as an operator does it: the answer ends, and can be asked for again', async () => {
  let tries = 0;
  model.answer = () => (++tries === 1 ? inTwo(new Promise(() => undefined)) : words);
  const o = await visit();
  await say(o, 'go');
  await o.page.getByText('word29').waitFor();
  await server.end('SIGTERM');
  await o.page.getByTestId('reconnecting').waitFor();
  await o.page.locator('[data-outcome=error]').waitFor();
  await server.start();
  await expect.poll(() => o.page.getByTestId('reconnecting').count(), { timeout: 20_000 }).toBe(0);
  await o.page.getByRole('button', { name: 'Ask again' }).click();
  await o.page.getByText('word59').waitFor();
  await done(o);
  expect(await times(o, whole)).toBe(1);
});
