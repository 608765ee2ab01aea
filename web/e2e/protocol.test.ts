import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Frame } from 'playwright-core';
import type { ToHost } from '../src/embed/protocol';
import { open, quit, type Opened } from './browser';
import { Host, peek, type Peeked } from './host';
import { Replay } from './replay';

// The loader's end of the protocol, message by message, on a page with Superset's policy. The frame is a bare one that
// notes what it hears and says what a test wants. The frame's own end: src/lib/bridge.test.ts.

const frame = `<!doctype html><title>frame</title><input aria-label="question"><script>
  window.heard = [];
  addEventListener('message', (e) => {
    if (e.source !== parent || e.data.type !== 'agentd:init') return;
    window.met = (window.met ?? 0) + 1;
    window.init = e.data;
    window.port = e.ports[0];
    port.onmessage = (p) => heard.push(p.data);
  });
  window.hello = (m = { type: 'agentd:hello', v: 1 }) => parent.postMessage(m, '*');
  hello();
</script>`;

const agent = new Replay(join(import.meta.dirname, '../dist'));
let agentBase = '';
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  agentBase = await agent.listen();
});
afterAll(async () => {
  await quit();
  await agent.close();
});
afterEach(async () => {
  for (const c of closing.splice(0).reverse()) await c();
});

interface FrameWindow {
  heard: Record<string, unknown>[];
  met: number;
  init: Record<string, unknown>;
  port: MessagePort;
  hello: (m?: unknown) => void;
}
let host: Host;
let o: Opened;
beforeEach(() => {
  host = new Host(agentBase, { frame });
});

/** Opens a page of the host with the panel open, and gives the frame once the two have met. */
async function meet(path = '/superset/dashboard/sales/'): Promise<Frame> {
  await host.listen();
  closing.push(() => host.close());
  o = await open('about:blank');
  closing.push(o.close);
  await o.page.addInitScript(peek);
  await o.page.goto(host.base + path);
  await cmd('open');
  const find = () => o.page.frames().find((x) => x.url().includes('embed=1'));
  await expect.poll(() => find() !== undefined).toBe(true);
  const found = find();
  if (!found) throw new Error('no frame');
  await found.waitForFunction(() => (window as unknown as FrameWindow).met === 1);
  return found;
}
async function cmd(c: string): Promise<void> {
  await o.page.waitForFunction(() => 'agentd' in window);
  await o.page.evaluate((x) => (window as unknown as Peeked).agentd.cmd(x), c);
}
const heard = (f: Frame, type: string) =>
  f.evaluate((t) => (window as unknown as FrameWindow).heard.filter((m) => m.type === t), type);
const last = async (f: Frame, type: string) => (await heard(f, type)).at(-1);
const say = (f: Frame, m: ToHost | object | null) =>
  f.evaluate((x) => (window as unknown as FrameWindow).port.postMessage(x), m);
const shown = <T>(look: (root: ShadowRoot) => T): Promise<T> =>
  o.page.evaluate(
    `(${look.toString()})(window.shadow)`, // a function of the page, not of the test
  );
const focus = () => o.page.evaluate(() => document.activeElement?.tagName);

test('init: once, to the frame, with context, theme, and whether there is a hand-over', async () => {
  const f = await meet();
  expect(await f.evaluate(() => (window as unknown as FrameWindow).init)).toEqual({
    type: 'agentd:init',
    v: 1,
    context: { objectType: 'dashboard', objectId: 'sales', route: '/superset/dashboard/sales/', lang: 'ru' },
    theme: { mode: 'light', fontFamily: "'PT Sans', sans-serif", link: '#2893B3' },
    handover: false,
  });
  expect(await f.evaluate(() => (window as unknown as FrameWindow).met)).toBe(1);
});

test.each([
  ['another version', { type: 'agentd:hello', v: 2 }],
  ['another message', { type: 'agentd:hallo', v: 1 }],
  ['nothing', null],
  ['a text', 'agentd:hello'],
])('hello with %s is not answered', async (_name, m) => {
  const f = await meet();
  await f.evaluate((x) => (window as unknown as FrameWindow).hello(x), m);
  await say(f, { type: 'look' }); // an answer that comes later than another init would have
  const before = (await heard(f, 'context')).length;
  await expect.poll(async () => (await heard(f, 'context')).length).toBeGreaterThanOrEqual(before);
  expect(await f.evaluate(() => (window as unknown as FrameWindow).met)).toBe(1);
});

test('a frame that is loaded anew meets the host again, over a port of its own', async () => {
  const f = await meet();
  await say(f, { type: 'unread', n: 3 });
  await expect.poll(() => shown((r) => r.querySelector('span')?.textContent)).toBe('3');
  await f.evaluate(() => location.reload());
  await f.waitForFunction(() => (window as unknown as FrameWindow).met === 1);
  await expect.poll(() => shown((r) => r.querySelector('span')?.textContent)).toBe(''); // it was another's, perhaps
  await expect.poll(() => last(f, 'context')).toMatchObject({ context: { objectName: 'Sales overview' } });
});

test('restart: the frame is loaded from its first address, and knows whose it is', async () => {
  const f = await meet();
  await f.evaluate(() => history.replaceState({}, '', '?embed=1&c=c1'));
  await say(f, { type: 'restart' });
  await f.waitForURL(`${host.base}/agentd/agent?embed=1`);
  await f.waitForFunction(() => (window as unknown as FrameWindow).met === 1);
  expect(await f.evaluate(() => document.referrer)).toBe(`${host.base}/`);
});

test('nobody else is answered: neither the page itself nor another frame of the same origin', async () => {
  const f = await meet();
  await o.page.evaluate(() => {
    Object.assign(window, { fished: [] });
    addEventListener('message', (e) => (window as unknown as { fished: unknown[] }).fished.push(e.data));
    postMessage({ type: 'agentd:hello', v: 1 }, '*');
    const other = document.createElement('iframe');
    other.name = 'other';
    document.body.append(other);
  });
  const other = o.page.frame('other');
  if (!other) throw new Error('no frame');
  await other.evaluate(() => {
    Object.assign(window, { fished: 0 });
    addEventListener('message', () => (window as unknown as { fished: number }).fished++);
    parent.postMessage({ type: 'agentd:hello', v: 1 }, '*');
    parent.postMessage({ type: 'close' }, '*');
    parent.postMessage({ type: 'navigate', url: '/superset/welcome/' }, '*');
  });
  await o.page.evaluate(() => history.pushState({}, '', '/superset/dashboard/77/'));
  await expect.poll(() => last(f, 'context')).toMatchObject({ context: { objectName: 'Returns' } });
  expect(await other.evaluate(() => (window as unknown as { fished: number }).fished)).toBe(0);
  expect(await f.evaluate(() => (window as unknown as FrameWindow).met)).toBe(1); // nor is its own port taken from the frame
  const seen = await o.page.evaluate(() => (window as unknown as { fished: { type?: string }[] }).fished);
  expect(seen.map((m) => m.type)).not.toContain('agentd:init');
  expect(await shown((r) => r.querySelector('iframe')?.className)).toBe('open');
  expect(new URL(o.page.url()).pathname).toBe('/superset/dashboard/77/');
});

test('context: the object by its id, never the title of the page; none on a list; one message for each page', async () => {
  const f = await meet();
  await expect
    .poll(() => last(f, 'context'))
    .toMatchObject({ context: { objectType: 'dashboard', objectId: '42', objectName: 'Sales overview' } });
  const steps: [string, object][] = [
    ['/superset/dashboard/77/', { objectType: 'dashboard', objectId: '77', objectName: 'Returns' }],
    ['/explore/?form_data_key=k&slice_id=5', { objectType: 'chart', objectId: '5', objectName: 'Revenue by month' }],
    ['/explore/?datasource_type=table&datasource_id=6', { objectType: 'dataset', objectId: '6', objectName: 'orders' }],
    ['/superset/explore/p/Ab3/', { objectType: 'chart', objectId: '5', objectName: 'Revenue by month' }],
    ['/superset/dashboard/%D0%BF%D1%80/', { objectType: 'dashboard', objectId: '43', objectName: 'Прибыль' }],
    ['/superset/dashboard/hidden/', { objectType: 'dashboard', objectId: 'hidden' }],
    ['/sqllab', { objectType: 'sqllab', objectId: '1', objectName: 'main' }],
    ['/dashboard/list/?pageIndex=0', {}],
  ];
  for (const [to, want] of steps) {
    const before = (await heard(f, 'context')).length;
    await o.page.evaluate((x) => history.pushState({}, '', x), to);
    const route = new URL(to, host.base).pathname;
    await expect
      .poll(async () => (await last(f, 'context'))?.context)
      .toEqual({
        ...want,
        route,
        lang: 'ru',
        ...(to.includes('/p/') ? { link: 'Ab3' } : {}),
      });
    expect((await heard(f, 'context')).length, to).toBe(before + 1);
  }
  await o.page.goBack();
  await expect.poll(async () => (await last(f, 'context'))?.context).toMatchObject({ objectType: 'sqllab' });
  expect(JSON.stringify(await heard(f, 'context'))).not.toContain('An earlier chart');
});

test('context: a slow name comes after the object, and one that comes too late is not said', async () => {
  const f = await meet();
  await expect.poll(() => last(f, 'context')).toMatchObject({ context: { objectId: '42' } });
  let answer: () => void = () => undefined;
  host.wait = new Promise((done) => (answer = done));
  await o.page.evaluate(() => history.pushState({}, '', '/superset/dashboard/77/'));
  await expect
    .poll(async () => (await last(f, 'context'))?.context)
    .toEqual({
      objectType: 'dashboard',
      objectId: '77',
      route: '/superset/dashboard/77/',
      lang: 'ru',
    });
  answer();
  await expect.poll(() => last(f, 'context')).toMatchObject({ context: { objectName: 'Returns' } });
  host.wait = new Promise((done) => (answer = done));
  await o.page.evaluate(() => history.pushState({}, '', '/superset/dashboard/sales/'));
  await o.page.evaluate(() => history.pushState({}, '', '/superset/welcome/'));
  await expect
    .poll(async () => (await last(f, 'context'))?.context)
    .toEqual({ route: '/superset/welcome/', lang: 'ru' });
  const count = (await heard(f, 'context')).length;
  answer();
  host.wait = Promise.resolve();
  await o.page.evaluate(() => fetch('/api/v1/dashboard/77')); // comes after the answer that was held
  expect((await heard(f, 'context')).length).toBe(count);
});

test('look: a new name is told without a change of the page', async () => {
  const f = await meet();
  await expect.poll(() => last(f, 'context')).toMatchObject({ context: { objectName: 'Sales overview' } });
  host.objects['dashboard/sales'] = { id: 42, dashboard_title: 'Quarterly' };
  await say(f, { type: 'look' });
  await expect.poll(() => last(f, 'context')).toMatchObject({ context: { objectId: '42', objectName: 'Quarterly' } });
  delete host.objects['dashboard/sales']; // not visible to who is logged in by now
  await say(f, { type: 'look' });
  await expect
    .poll(async () => (await last(f, 'context'))?.context)
    .toEqual({
      objectType: 'dashboard',
      objectId: 'sales',
      route: '/superset/dashboard/sales/',
      lang: 'ru',
    });
});

test('theme: told again when the page becomes dark', async () => {
  const f = await meet();
  await o.page.evaluate(() => (document.body.style.background = 'rgb(0, 0, 0)'));
  await expect
    .poll(() => last(f, 'theme'))
    .toEqual({
      type: 'theme',
      theme: { mode: 'dark', fontFamily: 'Arial', link: '#58abc0' },
    });
  await o.page.evaluate(() => (document.body.style.background = ''));
  await expect.poll(() => last(f, 'theme')).toMatchObject({ theme: { mode: 'light' } });
  expect((await heard(f, 'theme')).length).toBe(2);
});

test('visibility: open, close, toggle, the button and Escape on it; the focus goes in and comes back', async () => {
  const f = await meet();
  const open = async () => (await heard(f, 'visibility')).map((m) => m.open);
  expect(await focus()).toBe('AGENTD-LAUNCHER'); // the frame is inside
  await cmd('open');
  await cmd('close');
  await cmd('close');
  await cmd('toggle');
  await expect.poll(open).toEqual([false, true]);
  await cmd('toggle');
  await expect.poll(open).toEqual([false, true, false]);
  expect(await shown((r) => r.activeElement?.tagName)).toBe('BUTTON');
  await o.page.keyboard.press('Enter');
  await expect.poll(open).toEqual([false, true, false, true]);
  await expect.poll(() => shown((r) => r.activeElement?.tagName)).toBe('IFRAME');
  await shown((r) => r.querySelector('button')?.focus());
  await o.page.keyboard.press('Escape');
  await expect.poll(open).toEqual([false, true, false, true, false]);
});

test('close: the panel closes and the focus returns to the button', async () => {
  const f = await meet();
  await say(f, { type: 'close' });
  await expect.poll(() => shown((r) => r.querySelector('iframe')?.className)).toBe('');
  expect(await shown((r) => r.activeElement?.tagName)).toBe('BUTTON');
  expect(await shown((r) => r.querySelector('button')?.getAttribute('aria-expanded'))).toBe('false');
});

test('resize: as wished, within the window; below 600 px it always fills the screen', async () => {
  const f = await meet();
  const size = () =>
    shown((r) => {
      const b = r.querySelector('iframe')?.getBoundingClientRect();
      return [b?.width, b?.height, b?.right, b?.bottom];
    });
  expect(await size()).toEqual([440, 720, 1256, 776]); // of 1280 × 860
  await say(f, { type: 'resize', w: 880, h: 500 });
  await expect.poll(size).toEqual([880, 500, 1256, 776]);
  await say(f, { type: 'resize', w: 1e9, h: 1e9 });
  await expect.poll(size).toEqual([1248, 752, 1256, 776]);
  await say(f, { type: 'resize', w: '1px;position:static', h: {} });
  await say(f, { type: 'resize', w: 440, h: 720 });
  await expect.poll(size).toEqual([440, 720, 1256, 776]);
  await o.page.setViewportSize({ width: 600, height: 700 });
  await expect.poll(size).toEqual([600, 700, 600, 700]);
  await o.page.setViewportSize({ width: 601, height: 700 });
  await expect.poll(size).toEqual([440, 592, 577, 616]);
});

test('unread and title: told on the button and the frame, as text', async () => {
  const f = await meet();
  const count = () => shown((r) => r.querySelector('span')?.innerHTML);
  await say(f, { type: 'unread', n: 2 });
  await expect.poll(count).toBe('2');
  await say(f, { type: 'unread', n: '<b>1</b>' });
  await expect.poll(count).toBe('NaN');
  await say(f, { type: 'unread', n: 0 });
  await expect.poll(count).toBe('');
  await say(f, { type: 'title', title: '<i>Sales</i>' });
  await expect.poll(() => shown((r) => r.querySelector('iframe')?.title)).toBe('<i>Sales</i>');
});

test.each([
  ['https://evil.example/'],
  ['//evil.example/superset/'],
  ['javascript:document.title="x"'],
  ['data:text/html,x'],
  ['blob:null/x'],
])('navigate: not to %s', async (url) => {
  const f = await meet();
  await say(f, { type: 'navigate', url });
  await say(f, { type: 'unread', n: 1 });
  await expect.poll(() => shown((r) => r.querySelector('span')?.textContent)).toBe('1');
  expect(o.page.url()).toBe(`${host.base}/superset/dashboard/sales/`);
  expect(await o.page.title()).toBe('An earlier chart');
});

test('navigate: to a page of the host', async () => {
  const f = await meet();
  await say(f, { type: 'navigate', url: '/explore/?slice_id=5' });
  await o.page.waitForURL(`${host.base}/explore/?slice_id=5`);
});

test.each([
  ['objectType=dashboard&objectId=42&c=c1', '/agentd/agent?objectType=dashboard&objectId=42&c=c1'],
  ['/../../x', '/agentd/agent?/../../x'],
  ['#@evil.example', '/agentd/agent?'],
])('openFull: %s is a tab with the page of the frame', async (query, want) => {
  const f = await meet();
  const tab = o.context.waitForEvent('page');
  await say(f, { type: 'openFull', query });
  const url = new URL((await tab).url());
  expect(url.origin + url.pathname + (url.search || '?')).toBe(host.base + want);
  expect(await (await tab).evaluate(() => window.opener)).toBe(null);
});

test('messages of no sense change nothing', async () => {
  const f = await meet();
  for (const m of [null, 3, 'close', [], {}, { type: 'constructor' }, { type: 'needToken' }, { type: 'agentd:init' }])
    await say(f, m as object);
  await say(f, { type: 'unread', n: 1 });
  await expect.poll(() => shown((r) => r.querySelector('span')?.textContent)).toBe('1');
  expect(await shown((r) => r.querySelector('iframe')?.className)).toBe('open');
});

test('needToken: who is logged in, nobody, and nothing while that cannot be told', async () => {
  host = new Host(agentBase, { frame, handover: '/agentd-handover' });
  host.handover = [
    [200, { token: 'ey1' }],
    [401, { message: 'Not authorized' }],
    [500, '<h1>Internal Server Error</h1>'],
    [200, { token: 'ey2' }],
  ];
  const f = await meet();
  expect(await f.evaluate(() => (window as unknown as FrameWindow).init.handover)).toBe(true);
  const asked = async () => {
    const answer = o.page.waitForResponse((r) => r.url().endsWith('/agentd-handover'));
    await say(f, { type: 'needToken' });
    await (await answer).finished();
  };
  for (let i = 0; i < 4; i++) await asked();
  await expect.poll(async () => (await heard(f, 'token')).map((m) => m.token)).toEqual(['ey1', null, 'ey2']);
});

test('a second tag does nothing; destroy takes everything away, and another tag begins again', async () => {
  host = new Host(agentBase, { frame, tags: 2 });
  await meet();
  expect(await o.page.locator('agentd-launcher').count()).toBe(1);
  expect(o.page.frames().length).toBe(2);
  await cmd('destroy');
  expect(await o.page.locator('agentd-launcher').count()).toBe(0);
  expect(await o.page.evaluate(() => 'agentd' in window)).toBe(false);
  expect(o.page.frames().length).toBe(1);
});

test.each([
  ['/login/', undefined, true],
  ['/superset/welcome/', undefined, false],
  ['/superset/welcome/', '/sqllab /superset/welcome', true],
  ['/login/', '', false],
])('on %s with data-hide-on %j it is hidden: %j', async (path, hideOn, want) => {
  host = new Host(agentBase, { frame, hideOn });
  await meet(path);
  const hidden = () => o.page.locator('agentd-launcher').evaluate((e) => getComputedStyle(e).display === 'none');
  await expect.poll(hidden).toBe(want);
  if (!want) return;
  await o.page.evaluate(() => history.pushState({}, '', '/superset/dashboard/77/'));
  await expect.poll(hidden).toBe(false);
});

test.each([
  ['', true],
  ['?standalone=0', true],
  ['?standalone=false', true],
  ['?standalone=1', false],
  ['?standalone=3', false],
  ['?standalone=true', false],
])('standalone: on /superset/dashboard/77/%s there is a button: %j', async (query, want) => {
  await host.listen();
  closing.push(() => host.close());
  o = await open(`${host.base}/superset/dashboard/77/${query}`);
  closing.push(o.close);
  expect(await o.page.evaluate(() => 'agentd' in window)).toBe(want);
});

test('below an application root: addresses, names and what is hidden are those of Superset', async () => {
  host = new Host(agentBase, { frame, root: '/bi' });
  const f = await meet('/bi/superset/dashboard/sales/');
  await expect
    .poll(async () => (await last(f, 'context'))?.context)
    .toEqual({
      objectType: 'dashboard',
      objectId: '42',
      objectName: 'Sales overview',
      route: '/bi/superset/dashboard/sales/',
      lang: 'ru',
    });
  await o.page.evaluate(() => history.pushState({}, '', '/bi/dashboard/list/'));
  await expect
    .poll(async () => (await last(f, 'context'))?.context)
    .toEqual({ route: '/bi/dashboard/list/', lang: 'ru' });
  await o.page.evaluate(() => history.pushState({}, '', '/bi/login/'));
  await expect.poll(() => o.page.locator('agentd-launcher').evaluate((e) => getComputedStyle(e).display)).toBe('none');
});
