import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Frame, Page } from 'playwright-core';
import { axe, open, quit, type Look, type Opened } from './browser';
import { Host, peek, type Peeked } from './host';
import { Replay } from './replay';
import { answer, finished, table } from './scenes';

let agent: Replay;
let agentBase: string;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  agent = new Replay(join(import.meta.dirname, '../dist'));
  agentBase = await agent.listen();
});
beforeEach(() => {
  agent.script = (_t, id) => [...answer(`a${id}`, 'It shows sales.', 3, 20), finished()];
  Object.assign(agent, { user: 'dev', signedOut: false });
});
afterAll(async () => {
  await quit();
  await agent.close();
});
afterEach(async () => {
  for (const c of closing.splice(0).reverse()) await c();
});

let host: Host;
async function visit(path: string, o: ConstructorParameters<typeof Host>[1] = {}, look: Look = {}): Promise<Opened> {
  host = new Host(agentBase, o);
  await host.listen();
  closing.push(() => host.close());
  const page = await open('about:blank', look);
  closing.push(page.close);
  await page.page.addInitScript(peek);
  await page.page.goto(host.base + path);
  return page;
}
/** Opens the panel by the keyboard; the button stands in a closed shadow root. */
async function panel(page: Page): Promise<Frame> {
  await expect.poll(() => page.evaluate(() => 'agentd' in window)).toBe(true);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.frames().some((f) => f.url().includes('embed=1'))).toBe(true);
  const frame = page.frames().find((f) => f.url().includes('embed=1'));
  if (!frame) throw new Error('no frame');
  await frame.locator('#composer').waitFor();
  return frame;
}
const hasLoader = (page: Page) => page.evaluate(() => 'agentd' in window);
/** The browser always says this about a frame of the same origin; the border there is the page's own policy. */
const known = (e: string) => /can escape its sandboxing/.test(e) || /favicon/.test(e);

test('same origin, default policy: it knows the object by its id, answers, follows, closes', async () => {
  const o = await visit('/superset/dashboard/sales/');
  const frame = await panel(o.page);
  const pill = frame.getByTestId('context-pill');
  await pill.getByText('Sales overview').waitFor();
  await pill.getByText('#42').waitFor();
  await frame.locator('#composer').fill('Что показывает?');
  await frame.locator('#composer').press('Enter');
  await frame.getByText('It shows sales.').waitFor();
  const sent = agent.requests.findLast((r) => r.path.endsWith('/messages'));
  expect(sent?.body.ui_context).toMatchObject({
    objectType: 'dashboard',
    objectId: '42',
    objectName: 'Sales overview',
  });
  await o.page.evaluate(() => history.pushState({}, '', '/superset/dashboard/77/'));
  await pill.getByText('Returns').waitFor();
  await frame.getByText('Контекст изменился: Returns').first().waitFor();
  await o.page.evaluate(() => history.pushState({}, '', '/dashboard/list/?pageIndex=0'));
  await expect.poll(() => pill.count()).toBe(0);
  expect(await axe(frame)).toEqual([]);
  await frame.getByRole('button', { name: 'Закрыть' }).click();
  await expect.poll(() => o.page.evaluate(() => document.activeElement?.tagName)).toBe('AGENTD-LAUNCHER');
  expect(o.errors.filter((e) => !known(e))).toEqual([]);
});

/** Sends a message and waits for the answer. */
async function ask(frame: Frame, text: string): Promise<void> {
  await frame.locator('#composer').fill(text);
  await frame.locator('#composer').press('Enter');
  await frame.getByText('It shows sales.').waitFor();
}
/** What the panel does when its window gets the focus again, and twice a minute. */
const looksAgain = (frame: Frame) => frame.evaluate(() => void dispatchEvent(new Event('focus')));
const toggle = (page: Page) => page.evaluate(() => (window as unknown as Peeked).agentd.cmd('toggle'));

test('an object that has got another name by a run is shown by it', async () => {
  const o = await visit('/superset/dashboard/sales/');
  const frame = await panel(o.page);
  await frame.getByTestId('context-pill').getByText('Sales overview').waitFor();
  host.objects['dashboard/sales'] = { id: 42, dashboard_title: 'Quarterly figures' };
  await ask(frame, 'rename it');
  await frame.getByTestId('context-pill').getByText('Quarterly figures').waitFor();
  expect(await frame.getByText('Контекст изменился').count()).toBe(0); // it is the same object
});

test('a log-out ends the stream in the middle of an answer, and what was said goes on for the same user', async () => {
  const o = await visit('/superset/dashboard/sales/');
  const frame = await panel(o.page);
  await ask(frame, 'first');
  agent.script = (_t, id) => answer(`a${id}`, 'A long answer that never ends.', 3, 20);
  await frame.locator('#composer').fill('second');
  await frame.locator('#composer').press('Enter');
  await frame.getByText('A long answer').waitFor();
  expect(agent.streams).toBe(1);
  agent.signedOut = true;
  await looksAgain(frame);
  await frame.locator('.banner', { hasText: 'Сеанс истёк' }).waitFor();
  await expect.poll(() => agent.streams).toBe(0);
  agent.signedOut = false;
  await looksAgain(frame);
  await frame.locator('.banner', { hasText: 'Сеанс истёк' }).waitFor({ state: 'hidden' });
  await expect.poll(() => agent.streams).toBe(1);
});

test('another user: nothing of the first is left, neither in the frame nor on the button', async () => {
  const o = await visit('/superset/dashboard/sales/');
  const frame = await panel(o.page);
  await ask(frame, 'the first one asked this');
  await frame.locator('#composer').fill('and began to write this');
  await frame.getByTestId('context-pill').getByText('Sales overview').waitFor();
  const before = agent.requests.length;
  agent.user = 'boris';
  agent.logs.clear(); // what boris may see
  delete host.objects['dashboard/sales'];
  await looksAgain(frame);
  await expect
    .poll(() => agent.requests.slice(before).some((r) => r.path === '/environments'), { timeout: 10_000 })
    .toBe(true); // it has begun anew
  await frame.locator('#composer').waitFor();
  const text = () => frame.evaluate(() => document.body.innerText);
  await expect.poll(text).toContain('#sales'); // the pill, without a name that he may not see
  for (const left of ['the first one asked', 'It shows sales.', 'Sales overview'])
    expect(await text()).not.toContain(left);
  expect(await frame.locator('#composer').inputValue()).toBe('');
  expect(agent.streams).toBe(0);
  await ask(frame, 'boris asks');
  expect(agent.requests.findLast((r) => r.path.endsWith('/messages'))?.body.message).toBe('boris asks');
});

test('what ends while the panel is closed is counted on the button, until it is opened', async () => {
  const o = await visit('/superset/welcome/');
  const frame = await panel(o.page);
  agent.script = (_t, id) => answer(`a${id}`, 'It shows sales.', 3, 20);
  await ask(frame, 'go on without me');
  const count = () => o.page.evaluate(() => (window as unknown as Peeked).shadow.querySelector('span')?.textContent);
  expect(await count()).toBe('');
  await toggle(o.page);
  const [conversation = ''] = [...agent.logs.keys()].slice(-1);
  agent.append(conversation, finished());
  await expect.poll(count).toBe('1');
  await toggle(o.page);
  await expect.poll(count).toBe('');
});

test("the page's dark theme and font are taken, and its links where they can be read", async () => {
  const o = await visit('/superset/dashboard/sales/');
  const frame = await panel(o.page);
  const look = () =>
    frame.evaluate(() => {
      const { style, dataset } = document.documentElement;
      const [font, light, dark] = ['--font', '--link-light', '--link-dark'].map((n) => style.getPropertyValue(n));
      return { theme: dataset.theme, font, light, dark };
    });
  // #2893b3 is too pale for white.
  await expect.poll(look).toEqual({ theme: 'light', font: "'PT Sans', sans-serif", light: '', dark: '#2893B3' });
  await o.page.evaluate(() => (document.body.style.background = 'rgb(0, 0, 0)'));
  await expect.poll(look).toEqual({ theme: 'dark', font: 'Arial', light: '', dark: '#58abc0' });
  expect(await axe(frame)).toEqual([]);
  expect(o.errors.filter((e) => !known(e))).toEqual([]);
});

test('a stored result gets more room, and gives it back', async () => {
  const o = await visit('/superset/welcome/');
  agent.stored = [[1, 'one']];
  agent.script = () => [...table, finished()];
  const frame = await panel(o.page);
  await frame.locator('#composer').fill('rows');
  await frame.locator('#composer').press('Enter');
  const width = () => frame.evaluate(() => innerWidth);
  expect(await width()).toBe(440);
  await frame.getByRole('button', { name: 'Открыть результат' }).click();
  await expect.poll(width).toBe(880);
  await frame.locator('dialog').getByRole('button', { name: 'Закрыть' }).first().click();
  await expect.poll(width).toBe(440);
});

test('Escape closes an idle panel; the handle opens, closes and removes it', async () => {
  const o = await visit('/superset/welcome/');
  const frame = await panel(o.page);
  await frame.locator('#composer').press('Escape');
  await expect.poll(() => o.page.evaluate(() => document.activeElement?.tagName)).toBe('AGENTD-LAUNCHER');
  await o.page.evaluate(() => (window as unknown as { agentd: { cmd: (c: string) => void } }).agentd.cmd('destroy'));
  expect(await hasLoader(o.page)).toBe(false);
  expect(await o.page.locator('agentd-launcher').count()).toBe(0);
});

test.each(['/superset/dashboard/1/?standalone=1', '/superset/dashboard/1/?standalone=3'])(
  'no button on %s',
  async (path) => {
    const o = await visit(path);
    await o.page.waitForLoadState('load');
    expect(await hasLoader(o.page)).toBe(false);
  },
);

test('without a nonce the policy of the host blocks the script', async () => {
  const o = await visit('/superset/welcome/', { nonce: false });
  await o.page.waitForLoadState('load');
  expect(await hasLoader(o.page)).toBe(false);
  expect(o.errors.join()).toContain('script-src');
});

test('another origin needs frame-src, and the page does not talk to an origin that is not listed', async () => {
  const o = await visit('/superset/dashboard/sales/', { loader: `${agentBase}/`, frameSrc: `'self' ${agentBase}` });
  await expect.poll(() => hasLoader(o.page)).toBe(true);
  await o.page.evaluate(() => (window as unknown as { agentd: { cmd: (c: string) => void } }).agentd.cmd('open'));
  // The recorded server lists no other origin, so its frame-ancestors refuses.
  await expect.poll(() => o.errors.join()).toContain('frame-ancestors');
});

test('a hostile page may not frame it', async () => {
  const hostile = createServer((_q, s) =>
    s.writeHead(200, { 'Content-Type': 'text/html' }).end(`<iframe src="${agentBase}/agent?embed=1"></iframe>`),
  );
  await new Promise<void>((done) => hostile.listen(0, '127.0.0.1', done));
  closing.push(() => new Promise((done) => hostile.close(() => done())));
  const o = await open(`http://127.0.0.1:${(hostile.address() as AddressInfo).port}/`);
  closing.push(o.close);
  await expect.poll(() => o.errors.join()).toContain('frame-ancestors');
});

test('on a narrow screen the panel fills it and nothing is wider', async () => {
  const o = await visit('/superset/dashboard/sales/', {}, { width: 360, height: 740 });
  const frame = await panel(o.page);
  expect(await frame.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)).toBe(false);
  expect(await frame.evaluate(() => window.innerWidth)).toBe(360);
});
