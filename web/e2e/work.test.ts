import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Download } from 'playwright-core';
import { Agentd } from './agentd';
import { axe, open, quit, type Opened } from './browser';
import { answered, gate, Model, said } from './model';

// What a person does with a conversation and its results, against the built server.

const model = new Model();
let server: Agentd;
const opened: Opened[] = [];

beforeAll(async () => {
  await model.listen();
  server = await Agentd.demo({ model: model.url, flags: ['--limits.retry-delay=10ms'] });
});
afterAll(async () => {
  await quit();
  await server.stop();
  await model.close();
});
beforeEach(() => {
  model.answer = (q) => [`Answer to ${said(q)}.`];
  model.asked.length = 0;
});
afterEach(async () => {
  for (const o of opened.splice(0)) await o.close();
});

async function visit(query = 'envId=ss-dev'): Promise<Opened> {
  const o = await open(`${server.page}?lang=en&${query}`);
  opened.push(o);
  await o.page.getByRole('combobox', { name: 'Environment' }).waitFor();
  return o;
}
async function say(o: Opened, text: string): Promise<void> {
  await o.page.locator('#composer').fill(text);
  await o.page.locator('#composer').press('Enter');
}
const done = (o: Opened) => o.page.getByRole('button', { name: 'Send' }).waitFor();
const item = (o: Opened, name: string) => o.page.locator('nav').getByRole('button', { name, exact: true });

test('conversations are found, renamed and deleted, and a reload agrees', async () => {
  const o = await visit();
  await say(o, 'alpha question');
  await o.page.getByText('Answer to alpha question.').waitFor();
  await done(o);
  await item(o, 'alpha question').waitFor();
  await o.page.getByRole('button', { name: 'New conversation' }).first().click();
  await say(o, 'beta question');
  await o.page.getByText('Answer to beta question.').waitFor();
  await item(o, 'beta question').waitFor();
  const search = o.page.getByRole('searchbox', { name: 'Search conversations' });
  await search.fill('ALPHA');
  await expect.poll(() => item(o, 'beta question').count()).toBe(0);
  await o.page.getByRole('button', { name: 'Rename: alpha question' }).click();
  await o.page.getByRole('textbox', { name: 'New title' }).fill('Альфа «renamed»');
  await o.page.keyboard.press('Enter');
  await search.fill('альфа');
  await item(o, 'Альфа «renamed»').click();
  await o.page.getByText('Answer to alpha question.').waitFor();
  expect(await o.page.title()).toBe('Альфа «renamed»');
  await search.fill('nowhere');
  await o.page.getByText('Nothing found.').waitFor();
  await search.fill('');
  await o.page.getByRole('button', { name: 'Delete: Альфа «renamed»' }).click();
  await o.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await o.page.getByRole('heading', { name: 'How can I help?' }).waitFor();
  await o.page.reload();
  await item(o, 'beta question').waitFor();
  expect(await item(o, 'Альфа «renamed»').count()).toBe(0);
});

test('an answer is rated and copied', async () => {
  const o = await visit();
  await o.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  model.answer = () => ['An **answer**'];
  await say(o, 'go');
  await done(o);
  await o.page.getByText('1,200 / 300 tokens').waitFor();
  for (const [name, rating] of [
    ['Good answer', 'up'],
    ['Bad answer', 'down'],
  ] as const) {
    const kept = o.page.waitForResponse((r) => r.url().endsWith('/feedback'));
    const button = o.page.getByRole('button', { name });
    await button.click();
    expect((await kept).status()).toBe(204);
    expect((await kept).request().postDataJSON()).toEqual({ rating });
    await expect.poll(() => button.getAttribute('aria-pressed')).toBe('true');
  }
  await o.page.getByRole('button', { name: 'Copy' }).click();
  await o.page.getByText('Copied').waitFor();
  expect(await o.page.evaluate(() => navigator.clipboard.readText())).toBe('An **answer**');
});

test('the last message is edited: the model does not read what it replaces', async () => {
  const o = await visit();
  await say(o, 'first try');
  await o.page.getByText('Answer to first try.').waitFor();
  await done(o);
  await o.page.locator('#composer').press('ArrowUp');
  expect(await o.page.locator('#composer').inputValue()).toBe('first try');
  await o.page.getByText('You are editing your last message').waitFor();
  await say(o, 'second try');
  await o.page.getByText('Answer to second try.').waitFor();
  await done(o);
  const read = JSON.stringify(model.asked.at(-1)?.messages);
  expect(read).toContain('second try');
  expect(read).not.toContain('first try');
  const folded = async () => {
    await o.page.getByText('2 edited entries').or(o.page.getByText('3 edited entries')).waitFor();
    expect(await o.page.getByText('Answer to first try.').isVisible()).toBe(false);
  };
  await folded();
  await o.page.reload();
  await o.page.getByText('Answer to second try.').waitFor();
  await folded();
});

test('an open question is found from elsewhere and refused there; stopping refuses, too', async () => {
  model.answer = (q) => (answered(q) ? ['As you wish.'] : [{ tool: 'delete_dashboard', args: { dashboard: 9 } }]);
  const o = await visit();
  const before = await server.committed('dev', 'DELETE', '/api/v1/dashboard/*');
  await say(o, 'delete it');
  await o.page.locator('[data-confirm][data-state=open]').waitFor();
  await o.page.getByRole('button', { name: 'New conversation' }).first().click();
  await expect.poll(() => o.page.locator('[data-confirm]').count()).toBe(0);
  const inbox = o.page.locator('nav .inbox');
  await inbox.locator('.count').waitFor();
  await inbox.click();
  await o.page
    .getByRole('dialog')
    .getByRole('button', { name: /delete_dashboard/ })
    .click();
  await o.page.locator('[data-confirm][data-state=open]').waitFor();
  await o.page.getByRole('button', { name: 'Cancel' }).click();
  await o.page.locator('[data-confirm][data-state=rejected]').waitFor();
  await o.page.getByText('As you wish.').waitFor();
  await done(o);
  await expect.poll(() => inbox.locator('.count').count()).toBe(0);
  await say(o, 'delete it again');
  await o.page.locator('[data-confirm][data-state=open]').waitFor();
  await o.page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(() => o.page.locator('[data-confirm][data-state=rejected]').count()).toBe(2);
  await done(o);
  expect(await server.committed('dev', 'DELETE', '/api/v1/dashboard/*')).toBe(before);
});

test('an answer is stopped, here and in another tab, and what was said stays', async () => {
  const half = gate();
  model.answer = () => ['Said before. ', half.opened, 'Never said.'];
  const o = await visit();
  await say(o, 'go');
  await o.page.getByText('Said before.').waitFor();
  const other = await open(o.page.url());
  opened.push(other);
  await other.page.getByText('Said before.').waitFor();
  await other.page.getByRole('button', { name: 'Stop' }).click();
  for (const p of [o, other]) {
    await p.page.locator('[data-outcome=cancelled]').waitFor();
    await done(p);
    await p.page.getByText('Said before.').waitFor();
  }
  half.open();
});

test('a read that failed is tried again by the person, and the model goes on with it', async () => {
  let tries = 0;
  model.answer = (q) =>
    answered(q) ? [`Seen ${++tries}.`] : [{ tool: 'search_dashboards', args: { query: 'sales' } }];
  const o = await visit();
  await server.fault('dev', { method: 'GET', path: '/api/v1/dashboard/*', times: 2, fault: { status: 503 } });
  await say(o, 'find');
  await o.page.getByText('Seen 1.').waitFor();
  await done(o);
  await o.page.getByRole('button', { name: 'Try again' }).click();
  await o.page.locator('[data-state=done]', { hasText: 'search_dashboards' }).getByRole('table').waitFor();
  await o.page.getByText('Seen 2.').waitFor();
  await o.page.getByText('Tried again below').waitFor();
});

test('the environment is chosen, production is said loudly, and the message goes where it says', async () => {
  const o = await visit('');
  const select = o.page.getByRole('combobox', { name: 'Environment' });
  const banner = o.page.getByText('Production: changes are visible to all users at once');
  expect(await select.inputValue()).toBe('ss-dev'); // never production by itself
  expect(await banner.count()).toBe(0);
  await select.selectOption('ss-prod');
  await banner.waitFor();
  await o.page.getByRole('status').getByText('Production').waitFor({ state: 'attached' });
  await say(o, 'where?');
  await o.page.getByText('Answer to where?.').waitFor();
  expect(model.asked.at(-1)?.messages[0]?.content).toContain('Environment: ss-prod');
  await o.page.reload();
  await banner.waitFor(); // the choice is remembered
});

test('what the page shows goes with a message, or is left out; a suggestion only fills the field', async () => {
  const o = await visit('objectType=dashboard&objectId=1&objectName=Sales&envId=ss-dev');
  const pill = o.page.getByTestId('context-pill');
  await pill.getByText('Sales').waitFor();
  await o.page.getByRole('button', { name: 'Who has access?' }).click();
  expect(await o.page.locator('#composer').inputValue()).toBe('Who has access?');
  expect(model.asked).toEqual([]);
  await o.page.locator('#composer').press('Enter');
  await o.page.getByText('Answer to Who has access?.').waitFor();
  await done(o);
  expect(model.asked.at(-1)?.messages[0]?.content).toContain('objectType=dashboard objectId="1"');
  await o.page.getByRole('button', { name: 'Ask without the page context' }).click();
  await say(o, 'and now?');
  await o.page.getByText('Answer to and now?.').waitFor();
  expect(model.asked.at(-1)?.messages[0]?.content).not.toContain('objectId');
  await done(o);
  await o.page.locator('main').getByText('Dashboard Sales #1 · Development').waitFor(); // the old turn keeps its own
});

test('a stored result is paged, sorted, reduced to columns and saved; gone, it says so', async () => {
  const sql = 'SELECT customer_id, name, email, country, segment, credit_limit FROM customers ORDER BY 1 LIMIT 120';
  model.answer = (q) => (answered(q) ? ['There.'] : [{ tool: 'run_sql', args: { database_id: 1, sql, whole: true } }]);
  const o = await visit();
  await say(o, 'go');
  await o.page.getByText('There.').waitFor();
  await done(o);
  const opening = o.page.waitForResponse((r) => r.url().includes('/artifacts/'));
  await o.page.getByRole('button', { name: 'Open result' }).click();
  const id = /artifacts\/([^?/]+)/.exec((await opening).url())?.[1] ?? '';
  const panel = o.page.getByRole('dialog');
  await panel.getByText('Rows 1–50 of 120').waitFor();
  expect(await axe(o.page, 'dialog[open]')).toEqual([]);
  const first = () => panel.locator('tbody tr').first().innerText();
  await panel.getByRole('button', { name: 'Sort by customer_id' }).click();
  expect(await first()).toMatch(/^1\t/);
  await panel.getByRole('button', { name: 'Sort by customer_id' }).click();
  expect(await first()).toMatch(/^50\t/);
  await panel.getByText('Only the rows shown are sorted.').waitFor();
  await panel.getByRole('button', { name: 'Next' }).click();
  await panel.getByText('Rows 51–100 of 120').waitFor();
  expect(await first()).toMatch(/^51\t/);
  await panel.getByRole('button', { name: 'Next' }).click();
  await panel.getByText('Rows 101–120 of 120').waitFor();
  expect(await panel.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
  await panel.getByRole('button', { name: 'Previous' }).click();
  await panel.getByText('Rows 51–100 of 120').waitFor();
  await panel.getByText('Columns · 6/6').click();
  await panel.getByRole('checkbox', { name: 'credit_limit' }).uncheck();
  expect(await panel.locator('th').count()).toBe(5);
  const shown = await saved(o, () => panel.getByRole('button', { name: 'CSV of the rows shown' }).click());
  expect(shown.split('\r\n').slice(0, 2)).toEqual([
    'customer_id,name,email,country,segment',
    expect.stringMatching(/^51,/),
  ]);
  const whole = await saved(o, () => panel.getByRole('link', { name: 'Download CSV' }).click());
  expect(whole.trim().split('\n')).toHaveLength(121);
  const lines = await saved(o, () => panel.getByRole('link', { name: 'Download JSON lines' }).click());
  expect(
    lines
      .trim()
      .split('\n')
      .map((l) => JSON.parse(l) as unknown),
  ).toHaveLength(120);
  await o.page.keyboard.press('Escape');
  await o.page.evaluate(async (at) => void (await fetch(`api/v1/artifacts/${at}`, { method: 'DELETE' })), id);
  await o.page.getByRole('button', { name: 'Open result' }).click();
  await panel.getByText('This result is no longer stored.').waitFor();
});

async function saved(o: Opened, press: () => Promise<void>): Promise<string> {
  const saving: Promise<Download> = o.page.waitForEvent('download');
  await press();
  let text = '';
  for await (const chunk of await (await saving).createReadStream()) text += String(chunk);
  return text;
}
