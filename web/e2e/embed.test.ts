import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Frame, Page } from 'playwright-core';
import { axe, open, quit, type Look, type Opened } from './browser';
import { Host } from './host';
import { Replay } from './replay';
import { answer, finished } from './scenes';

let agent: Replay;
let agentBase: string;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  agent = new Replay(join(import.meta.dirname, '../dist'));
  agentBase = await agent.listen();
  agent.script = (_t, id) => [...answer(`a${id}`, 'It shows sales.', 3, 20), finished()];
});
afterAll(async () => {
  await quit();
  await agent.close();
});
afterEach(async () => {
  for (const c of closing.splice(0).reverse()) await c();
});

async function visit(path: string, o: ConstructorParameters<typeof Host>[1] = {}, look: Look = {}): Promise<Opened> {
  const host = new Host(agentBase, o);
  await host.listen();
  closing.push(() => host.close());
  const page = await open(host.base + path, look);
  closing.push(page.close);
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
