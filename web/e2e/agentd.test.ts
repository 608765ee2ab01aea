import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Agentd } from './agentd';
import { axe, open, quit, type Look, type Opened } from './browser';

// The page against the built server, its offline planner and its mock Supersets.

let server: Agentd;
const opened: Opened[] = [];

beforeAll(async () => {
  const flags = ['--limits.read-timeout=3s', '--limits.write-timeout=3s', '--limits.retry-delay=1s'];
  flags.push('--limits.message-chars=100');
  server = await Agentd.demo({ flags });
});
afterAll(async () => {
  await quit();
  await server.stop();
});
afterEach(async () => {
  for (const o of opened.splice(0)) await o.close();
});

async function visit(query = 'envId=ss-dev&lang=en', look: Look = {}): Promise<Opened> {
  const o = await open(`${server.page}?${query}`, look);
  opened.push(o);
  await o.page.getByRole('combobox', { name: /Environment|Окружение/ }).waitFor();
  return o;
}
async function say(o: Opened, text: string): Promise<void> {
  await o.page.locator('#composer').fill(text);
  await o.page.locator('#composer').press('Enter');
}
/** What the transcript says, without what only time changes. */
const seen = (o: Opened) => o.page.locator('main').innerText();

test('a search: card, table, answer; a reload shows what was seen live', async () => {
  const o = await visit();
  await say(o, 'Find dashboards about sales');
  const card = o.page.locator('[data-state=done]', { hasText: 'search_dashboards' });
  await card.getByRole('table').waitFor();
  await o.page.getByRole('link', { name: 'Sales Overview' }).waitFor();
  await o.page.getByRole('button', { name: 'Send' }).waitFor();
  expect(await axe(o.page)).toEqual([]);
  const live = await seen(o);
  await o.page.reload();
  await o.page.getByRole('link', { name: 'Sales Overview' }).waitFor();
  await expect.poll(() => seen(o)).toBe(live);
  expect(o.errors).toEqual([]);
  expect(o.foreign).toEqual([]);
});

test('a write is asked for, allowed in one tab, and both tabs see it', async () => {
  const first = await visit('objectType=dashboard&objectId=1&envId=ss-dev&lang=en');
  await say(first, 'Rename dashboard 1 to Sales 2026');
  const card = first.page.locator('[data-confirm]');
  await card.waitFor();
  const second = await open(first.page.url());
  opened.push(second);
  await second.page.locator('[data-confirm][data-state=open]').waitFor();
  const before = await server.committed('dev', 'PUT', '/api/v1/dashboard/*');
  await card.getByRole('button', { name: 'Run', exact: true }).click();
  for (const o of [first, second]) {
    await o.page.locator('[data-confirm][data-state=approved]').waitFor();
    await o.page.locator('[data-state=done]', { hasText: 'update_dashboard' }).waitFor();
    expect(await o.page.locator('[data-confirm]').getByRole('button').count()).toBe(0);
  }
  expect((await server.committed('dev', 'PUT', '/api/v1/dashboard/*')) - before).toBe(1);
  await first.page
    .locator('[data-confirm]')
    .getByText(/^You allowed this at /)
    .waitFor();
  await second.page.getByText('Already decided in another tab').waitFor();
  expect(await first.page.getByText('Already decided in another tab').count()).toBe(0);
  expect([...first.errors, ...second.errors]).toEqual([]);
});

test('a dangerous operation is locked for ten seconds, survives a reload, and is refused with a reason', async () => {
  const o = await visit('objectType=dashboard&objectId=1&envId=ss-prod&lang=en');
  await say(o, 'Delete dashboard 1');
  const card = o.page.locator('[data-confirm]');
  await card.getByRole('button', { name: /Run \(in \d+ s\)/ }).waitFor();
  expect(await card.getByRole('button', { name: /^Run/ }).isDisabled()).toBe(true);
  expect(await axe(o.page)).toEqual([]);
  await o.page.reload();
  await card.getByRole('button', { name: 'Run (in 10 s)' }).waitFor();
  await card.getByText('Refuse with a reason').click();
  await card.getByLabel('Reason (optional)').fill('not today');
  await card.getByRole('button', { name: 'Cancel' }).click();
  await o.page.locator('[data-confirm][data-state=rejected]').waitFor();
  await card.getByText('not today').waitFor();
  expect(await server.committed('prod', 'DELETE', '/api/v1/dashboard/*')).toBe(0);
});

test('a read that fails twice says so, and the person may try it again', async () => {
  const o = await visit();
  await server.fault('dev', { method: 'GET', path: '/api/v1/dashboard/*', times: 2, fault: { status: 503 } });
  await say(o, 'Find dashboards about sales');
  await o.page.locator('[data-state=retrying]').getByText('Trying again (2 of 2)').waitFor();
  await o.page.getByRole('button', { name: 'Try again' }).click();
  await o.page.locator('[data-state=done]', { hasText: 'search_dashboards' }).waitFor();
  await o.page.getByText('Tried again below').waitFor();
  expect(await o.page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
});

test('a write that was done but not answered is unknown: no button, and then what was found', async () => {
  const o = await visit('objectType=dashboard&objectId=1&envId=ss-staging&lang=en');
  await say(o, 'Rename dashboard 1 to Sales 2027');
  await o.page.locator('[data-confirm]').waitFor();
  await server.fault('staging', {
    method: 'PUT',
    path: '/api/v1/dashboard/*',
    times: 1,
    fault: { commit_then_hang: true },
  });
  await o.page.getByRole('button', { name: 'Run', exact: true }).click();
  const card = o.page.locator('[data-call][data-state=unknown]');
  await card.getByText('The change was made').waitFor();
  expect(await card.getByRole('button').count()).toBe(0);
  expect(await server.committed('staging', 'PUT', '/api/v1/dashboard/*')).toBe(1);
});

test('what was typed outlives a reload, and goes with the message that is sent', async () => {
  const o = await visit();
  const field = o.page.locator('#composer');
  await field.fill('Find dashboards about');
  await o.page.reload();
  await o.page.getByRole('combobox', { name: 'Environment' }).waitFor();
  expect(await field.inputValue()).toBe('Find dashboards about');
  await say(o, 'Find dashboards about sales');
  await o.page.locator('[data-state=done]', { hasText: 'search_dashboards' }).waitFor();
  await o.page.reload();
  await o.page.locator('[data-state=done]', { hasText: 'search_dashboards' }).waitFor();
  expect(await field.inputValue()).toBe('');
});

test('the longest message is what the server says, counted as the server does', async () => {
  const o = await visit();
  const send = o.page.getByRole('button', { name: 'Send' });
  const text = (n: number) => 'Hello' + '😀'.repeat(n - 5);
  await o.page.locator('#composer').fill(text(101));
  await o.page.getByText('The message is longer than 100 characters.').waitFor();
  expect(await send.isDisabled()).toBe(true);
  for (const n of [100, 99]) {
    await say(o, text(n));
    await o.page.locator('main').getByText(text(n), { exact: true }).waitFor();
    await send.waitFor();
  }
  expect(await o.page.locator('.refusal').count()).toBe(0);
  expect(o.errors).toEqual([]);
});

test('the pill says the name that Superset has, also after a rename', async () => {
  const o = await visit('objectType=dashboard&objectId=2&objectName=What%20a%20link%20says&envId=ss-dev&lang=en');
  const pill = o.page.getByTestId('context-pill');
  await pill.getByText('What a link says').waitFor();
  await say(o, 'Rename dashboard 2 to Sales of tomorrow');
  await o.page.getByRole('button', { name: 'Run', exact: true }).click();
  await o.page.locator('[data-state=done]', { hasText: 'update_dashboard' }).waitFor();
  await pill.getByText('Sales of tomorrow').waitFor();
});

test('production is asked for while a decision is open', async () => {
  const o = await visit('objectType=dashboard&objectId=1&envId=ss-dev&lang=en');
  await say(o, 'Rename dashboard 1 to Asked beside');
  await o.page.locator('[data-confirm][data-state=open]').waitFor();
  const select = o.page.getByRole('combobox', { name: 'Environment' });
  const dialog = o.page.getByRole('dialog', { name: 'Switch to production?' });
  await select.selectOption('ss-prod');
  await dialog.waitFor();
  expect(await axe(o.page)).toEqual([]);
  await o.page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await select.inputValue()).toBe('ss-dev');
  await select.selectOption('ss-prod');
  await dialog.getByRole('button', { name: 'Switch' }).click();
  await o.page.getByText('Production: changes are visible to all users at once').waitFor();
  expect(await select.inputValue()).toBe('ss-prod');
  await o.page.locator('[data-confirm][data-state=open]').waitFor();
});

test('the model is offline, and the page says so', async () => {
  const o = await visit('lang=ru');
  await o.page.getByTestId('offline-model').getByText('Модель без сети').waitFor();
});
