import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Frame, Page } from 'playwright-core';
import { open, quit, type Opened } from './browser';
import { chatPlace, type ChatCommand, type ChatPage } from './chat';
import { Stand, script, type Way } from './superset';

// The embedded assistant on the pages of a real Superset, in each of the ways that docs/embedding.md describes.

if (!script) console.log('skipped: set AGENTD_TEST_SUPERSET_EMBED to test/superset/superset.sh to try a real Superset');

const patience = 120_000; // a cold page of Superset takes many seconds on a busy machine
const closing: (() => Promise<void>)[] = [];
let stand: Stand;

afterEach(async () => {
  for (const c of closing.splice(0).reverse()) await c();
});
afterAll(quit);

/** A real Superset for the tests of one way. */
function standing(way: Way): void {
  beforeAll(async () => {
    stand = await Stand.start(way);
  }, 900_000);
  afterAll(() => stand?.stop(), patience); // undefined where it did not start
}

/** A browser of its own, with somebody logged in. */
async function session(user: string, how = logIn): Promise<Opened> {
  const o = await open('about:blank');
  closing.push(o.close);
  o.page.setDefaultTimeout(patience);
  await how(o.page, user);
  return o;
}

/**
 * Logs in as the form of Superset does, from an address of Superset that runs no scripts. Its pages report what happens
 * in them, as nobody while nobody is logged in; the answer to that carries a session of nobody, and where it comes after
 * the log-in it takes its place.
 */
async function logIn(page: Page, user: string): Promise<void> {
  await page.goto(`${stand.superset}/health`);
  await page.evaluate(
    async ([superset, name]) => {
      const form = await (await fetch(`${superset}/login/`)).text();
      const csrf_token = new DOMParser().parseFromString(form, 'text/html').querySelector('input#csrf_token');
      const body = new URLSearchParams({
        username: name,
        password: name,
        csrf_token: csrf_token?.getAttribute('value') ?? '',
      });
      await fetch(`${superset}/login/`, { method: 'POST', body, redirect: 'manual' });
    },
    [stand.superset, user] as const,
  );
  expect(await atSuperset(page)).toBe(user);
}
/** Leaves as the menu does, without the page that comes after it. */
async function logOut(page: Page): Promise<void> {
  await page.goto(`${stand.superset}/health`);
  await page.evaluate((superset) => fetch(`${superset}/logout/`, { redirect: 'manual' }), stand.superset);
  expect(await atSuperset(page)).toBe('');
}
/** Who is logged in at Superset in this browser, asked from an address of Superset; "" for nobody. */
const atSuperset = (page: Page): Promise<string> =>
  page.evaluate(async (superset) => {
    const res = await fetch(`${superset}/api/v1/me/`);
    return res.ok ? ((await res.json()) as { result: { username: string } }).result.username : '';
  }, stand.superset);

/** Logs in by Superset's own page. What counts is who Superset says it is; a log-in that was undone is done again. */
async function logInByHand(page: Page, user: string): Promise<void> {
  for (let left = 3; ; left--) {
    await page.goto(`${stand.superset}/login/`, { waitUntil: 'commit' });
    await page.locator('#username').fill(user);
    await page.locator('#password').fill(user);
    const answer = page.waitForResponse((r) => r.request().method() === 'POST' && r.url().endsWith('/login/'));
    const arrived = page.waitForEvent('framenavigated', (f) => f === page.mainFrame());
    await page.locator('#password').press('Enter');
    expect((await answer).status()).toBe(302);
    await arrived;
    let who = '';
    // A page that is on its way cannot be asked.
    await expect.poll(async () => (who = await atSuperset(page)), { timeout: patience }).toBeTypeOf('string');
    if (who === user) return;
    expect(left, 'a log-in that Superset undid').toBeGreaterThan(0);
  }
}
const hasLoader = (page: Page) => page.evaluate(() => 'agentd' in window);
const boardTitle = (page: Page): Promise<string> =>
  page.evaluate(async (superset) => {
    const res = await fetch(`${superset}/api/v1/dashboard/sales-overview`);
    return ((await res.json()) as { result: { dashboard_title: string } }).result.dashboard_title;
  }, stand.superset);

/** Clicks the button, which stands in a closed shadow root at the right bottom, and waits for the page in the frame. */
async function panel(page: Page): Promise<Frame> {
  await expect.poll(() => hasLoader(page), { timeout: patience }).toBe(true);
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  await page.mouse.click(width - 48, height - 48);
  const find = () => page.frames().find((f) => f.url().includes('embed=1'));
  await expect.poll(() => find() !== undefined, { timeout: patience }).toBe(true);
  const frame = find();
  if (!frame) throw new Error('no frame');
  await frame.locator('#composer').waitFor();
  return frame;
}
const pill = (f: Frame) => f.getByTestId('context-pill');
async function say(f: Frame, text: string): Promise<void> {
  await f.locator('#composer').fill(text);
  await f.locator('#composer').press('Enter');
}
/** Who the frame is signed in as; what the server says, not what is drawn. */
const whoIs = (f: Frame | Page): Promise<string> =>
  f.evaluate(async () => {
    const res = await fetch(new URL('api/v1/me', document.baseURI));
    return res.ok ? ((await res.json()) as { user: string }).user : String(res.status);
  });
/** Waits for somebody, or nobody (401), looking as the panel does when its window gets the focus, and twice a minute. */
const becomes = (f: Frame | Page, who: string) =>
  expect
    .poll(
      async () => {
        await f.evaluate(() => void dispatchEvent(new Event('focus')));
        return whoIs(f);
      },
      { timeout: patience, interval: 1000 },
    )
    .toBe(who);
/** The event streams that a page keeps open. */
function streams(page: Page): Set<unknown> {
  const open = new Set<unknown>();
  page.on('request', (r) => r.url().endsWith('/events') && open.add(r));
  for (const ended of ['requestfinished', 'requestfailed'] as const)
    page.on(ended as 'requestfailed', (r) => open.delete(r));
  return open;
}
const expired = (f: Frame | Page) => f.locator('.banner', { hasText: 'Your session has expired' });

/** What a browser says of a frame of the same origin, and of files that Superset asks for in vain. */
const known = (e: string) => /can escape its sandboxing|Failed to load resource/.test(e);
/** Answers of agentd that are no success, by the page's own requests. */
function failures(page: Page): string[] {
  const out: string[] = [];
  page.on('response', (r) => {
    if (r.url().startsWith(`${stand.agentd}/`) && r.status() >= 400) out.push(`${r.status()} ${r.url()}`);
  });
  return out;
}

/** Opens a page of Superset; what is needed of it is waited for later. */
const visit = (page: Page, path: string) => page.goto(`${stand.superset}${path}`, { waitUntil: 'commit' });

async function dashboardFromTheList(page: Page): Promise<void> {
  await page.evaluate(() => Object.assign(window, { sameLoad: true }));
  await page.locator('a[href*="/superset/dashboard/sales-overview"]').first().click();
  await page.waitForURL(/dashboard\/sales-overview/, { waitUntil: 'commit' });
}

/** The main path, from the list: ask on a dashboard, allow the change, see it, go on to a chart in the same load. */
async function renameAndGoOn(o: Opened, user: string): Promise<Frame> {
  const { page } = o;
  const failed = failures(page);
  await dashboardFromTheList(page);
  const frame = await panel(page);
  await pill(frame).getByText('#1', { exact: true }).waitFor();
  await expect.poll(() => whoIs(frame), { timeout: patience }).toBe(user);
  const title = `Sales ${randomUUID().slice(0, 8)}`;
  await say(frame, `Rename this dashboard to ${title}`);
  const card = frame.locator('[data-confirm]');
  await card.waitFor();
  expect(await boardTitle(page)).not.toBe(title);
  await card.getByRole('button', { name: 'Run', exact: true }).click();
  await frame.locator('[data-state=done]', { hasText: 'update_dashboard' }).waitFor();
  expect(await boardTitle(page)).toBe(title);
  await pill(frame).getByText(title).waitFor(); // Superset's own page goes on with the old one until it is loaded anew

  await page.locator('[data-test=slice-header] a', { hasText: 'Revenue by month' }).click();
  await page.waitForURL(/\/explore\/.*slice_id=3/, { waitUntil: 'commit' });
  await pill(frame).getByText('Revenue by month').waitFor();
  await frame.getByText('Context changed: Revenue by month').first().waitFor();
  await frame.locator('[data-state=done]', { hasText: 'update_dashboard' }).waitFor(); // it is still the conversation
  await page.goBack({ waitUntil: 'commit' });
  await page.waitForURL(/dashboard\/sales-overview/, { waitUntil: 'commit' });
  await pill(frame).getByText(title).waitFor();
  expect(await page.evaluate(() => 'sameLoad' in window)).toBe(true);
  // With the hand-over the first question who it is has to be refused: nobody is signed in yet.
  expect(failed.filter((f) => !/^401 .*\/api\/v1\/me$/.test(f))).toEqual([]);
  return frame;
}

/** A page of somebody else that frames the assistant. */
async function hostile(url: string): Promise<Opened> {
  const server = createServer((_q, s) =>
    s.writeHead(200, { 'Content-Type': 'text/html' }).end(`<iframe src="${url}"></iframe>`),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => new Promise((done) => server.close(() => done())));
  const o = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  closing.push(o.close);
  return o;
}

describe.skipIf(!script)('behind the proxy, with the default policy of Superset', { timeout: 600_000 }, () => {
  standing({});

  test('ask, allow, see it renamed, go on to a chart', async () => {
    const o = await session('admin', logInByHand);
    const policy = (await visit(o.page, '/dashboard/list/'))?.headers()['content-security-policy'];
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("'strict-dynamic'");
    expect(policy).not.toContain('frame-src');
    await renameAndGoOn(o, 'admin');
    expect(o.errors.filter((e) => !known(e))).toEqual([]);
    expect((await o.context.cookies()).map((c) => c.name)).toEqual(['session']); // none of agentd's own
  });

  test('no button for nobody, on reports and on the log-in page', async () => {
    const o = await open(`${stand.superset}/login/`);
    closing.push(o.close);
    await o.page.locator('#username').waitFor();
    expect(await hasLoader(o.page)).toBe(false);
    expect(await o.page.locator('script[src*="embed.js"]').count()).toBe(0);
    await logIn(o.page, 'admin');
    await visit(o.page, '/superset/dashboard/sales-overview/?standalone=1');
    await o.page.getByText('Revenue by month').waitFor();
    expect(await hasLoader(o.page)).toBe(false);
  });

  test('who logs out is signed out; who logs in next is somebody else and sees nothing of the first', async () => {
    const o = await session('admin');
    const open = streams(o.page);
    await visit(o.page, '/superset/dashboard/sales-overview/');
    const frame = await panel(o.page);
    await expect.poll(() => whoIs(frame), { timeout: patience }).toBe('admin');
    await say(frame, 'Find dashboards about sales');
    await frame.locator('[data-state=done]', { hasText: 'search_dashboards' }).waitFor();
    await expect.poll(() => open.size).toBe(1);
    await frame.locator('#composer').fill('what the first one was about to say');
    const other = await o.context.newPage();
    other.setDefaultTimeout(patience);
    await logOut(other);
    await becomes(frame, '401');
    await expired(frame).waitFor();
    await expect.poll(() => open.size).toBe(0);
    await logIn(other, 'gamma');
    await becomes(frame, 'gamma');
    await expired(frame).waitFor({ state: 'hidden' });
    await pill(frame).getByText('#1', { exact: true }).waitFor(); // as far as the second may see it
    expect(await frame.getByText('Find dashboards about sales').count()).toBe(0);
    expect(await frame.locator('#composer').inputValue()).toBe('');
    await frame.getByRole('button', { name: 'Conversations' }).click();
    await frame.getByRole('button', { name: 'New conversation' }).first().waitFor();
    expect(await frame.getByText('Find dashboards about sales').count()).toBe(0);
  });

  test('a page of another origin may not frame it', async () => {
    const o = await hostile(`${stand.agentd}/agent?embed=1`);
    await expect.poll(() => o.errors.join(), { timeout: patience }).toContain('frame-ancestors');
  });
});

describe.skipIf(!script)('on an origin of its own, with the hand-over', { timeout: 600_000 }, () => {
  standing({ own: true });

  test('signed in by the page of Superset: ask, allow, see it renamed, go on to a chart', async () => {
    const o = await session('admin');
    const policy = (await visit(o.page, '/dashboard/list/'))?.headers()['content-security-policy'];
    expect(policy).toContain(`frame-src 'self' ${stand.agentd}`);
    const told = await o.page.locator('#app').getAttribute('data-bootstrap');
    expect((JSON.parse(told ?? '{}') as { common: { agentd: unknown } }).common.agentd).toEqual({
      base: `${stand.agentd}/`,
      handover: '/agentd-handover',
    }); // for the extension
    const tokens: Promise<{ token: string }>[] = [];
    o.page.on('response', (r) => {
      if (tokens.length === 0 && r.url().endsWith('/agentd-handover'))
        tokens.push(r.json() as Promise<{ token: string }>);
    });
    const frame = await renameAndGoOn(o, 'admin');
    expect(new URL(frame.url()).origin).toBe(stand.agentd);
    const cookies = await o.context.cookies(stand.agentd);
    expect(cookies).toMatchObject([{ name: 'agentd', httpOnly: true, sameSite: 'Lax', path: '/' }]);
    expect(cookies[0]?.domain).toBe('agentd.bi.localhost'); // and Superset's cookie does not come here
    const life = (cookies[0]?.expires ?? 0) - Date.now() / 1000;
    expect(life).toBeGreaterThan(0);
    expect(life).toBeLessThanOrEqual(900);
    // What was used once is worth nothing, and no log has it.
    const used = (await tokens[0])?.token ?? '';
    expect(used).toMatch(/^ey/);
    const again = await frame.evaluate(async (t) => {
      const headers = { 'Content-Type': 'application/json' };
      return (await fetch('/api/v1/handover', { method: 'POST', headers, body: JSON.stringify({ token: t }) })).status;
    }, used);
    expect(again).toBe(401);
    expect(stand.said.join('\n')).toContain('/api/v1/handover');
    for (const hidden of [used, stand.secret, cookies[0]?.value ?? ''])
      expect(stand.said.filter((line) => line.includes(hidden))).toEqual([]);
  });

  test('who logs in next in the same browser is somebody else at once', async () => {
    const o = await session('admin');
    await visit(o.page, '/superset/dashboard/sales-overview/');
    const first = await panel(o.page);
    await expect.poll(() => whoIs(first), { timeout: patience }).toBe('admin');
    const before = await o.context.cookies(stand.agentd);
    await logOut(o.page);
    await logIn(o.page, 'gamma');
    await visit(o.page, '/superset/dashboard/sales-overview/');
    const frame = await panel(o.page);
    await expect.poll(() => whoIs(frame), { timeout: patience }).toBe('gamma');
    await expired(frame).waitFor({ state: 'hidden' });
    const after = await o.context.cookies(stand.agentd);
    expect(after.map((c) => c.name)).toEqual(before.map((c) => c.name));
    expect(after[0]?.value).not.toBe(before[0]?.value);
    const roles = await frame.evaluate(async () => {
      const res = await fetch('/api/v1/me');
      return ((await res.json()) as { roles: string[] }).roles;
    });
    expect(roles).toEqual(['Gamma', 'Sales readers']);
    // What the first one left is not the second one's to see.
    await pill(frame).getByText('#1', { exact: true }).waitFor();
    await frame.getByRole('button', { name: 'Conversations' }).click();
    await frame.getByRole('button', { name: 'New conversation' }).first().waitFor();
    expect(await frame.getByText('Rename this dashboard').count()).toBe(0);
  });

  test('a session that has ended is renewed by the page of Superset, while somebody is logged in there', async () => {
    const o = await session('admin');
    await visit(o.page, '/superset/dashboard/sales-overview/');
    const frame = await panel(o.page);
    await expect.poll(() => whoIs(frame), { timeout: patience }).toBe('admin');
    const open = streams(o.page);
    await say(frame, 'Find dashboards about sales');
    await frame.locator('[data-state=done]', { hasText: 'search_dashboards' }).waitFor();
    await o.context.clearCookies({ domain: 'agentd.bi.localhost' });
    expect(await whoIs(frame)).toBe('401');
    await becomes(frame, 'admin');
    await frame.locator('[data-state=done]', { hasText: 'search_dashboards' }).waitFor(); // it is still the conversation
    const whole = await o.context.newPage();
    await whole.goto(`${stand.agentd}/agent`);
    await whole.locator('#composer').waitFor();
    await expect.poll(() => whoIs(whole)).toBe('admin');
    const other = await o.context.newPage();
    other.setDefaultTimeout(patience);
    await logOut(other);
    await becomes(frame, '401');
    await expired(frame).waitFor();
    await expect.poll(() => open.size).toBe(0);
    expect(await o.context.cookies(stand.agentd)).toEqual([]);
    // agentd's own page has no page of Superset around it: the frame's word holds for it too.
    await becomes(whole, '401');
    await expired(whole).waitFor();
    await logIn(other, 'gamma');
    await becomes(frame, 'gamma');
    await frame.locator('#composer').waitFor();
    expect(await frame.getByText('Find dashboards about sales').count()).toBe(0);
    await becomes(whole, 'gamma');
    await whole.locator('.banner', { hasText: 'Another user has signed in' }).waitFor();
  });

  test('nobody else gets a token, and nobody else may frame it', async () => {
    const o = await session('admin');
    const cookie = (await o.context.cookies(stand.superset)).map((c) => `${c.name}=${c.value}`).join('; ');
    const from = async (headers: Record<string, string>) =>
      (await fetch(`http://127.0.0.1:${new URL(stand.superset).port}/agentd-handover`, { headers })).status;
    expect(await from({ cookie, 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await from({ cookie, 'sec-fetch-site': 'same-site' })).toBe(401);
    expect(await from({ cookie, 'sec-fetch-site': 'cross-site' })).toBe(401);
    expect(await from({})).toBe(401);
    const h = await hostile(`${stand.agentd}/agent?embed=1`);
    await expect.poll(() => h.errors.join(), { timeout: patience }).toContain('frame-ancestors');
  });
});

describe.skipIf(!script)('below an application root', { timeout: 600_000 }, () => {
  standing({ below: '/bi' });

  test('the path of the cookie covers agentd; ask, allow, see it renamed, go on to a chart', async () => {
    const o = await session('admin');
    await visit(o.page, '/dashboard/list/');
    await renameAndGoOn(o, 'admin');
    expect(o.errors.filter((e) => !known(e))).toEqual([]);
    expect(await o.context.cookies()).toMatchObject([{ name: 'session', path: '/bi' }]);
  });
});

// Not below an application root: Superset 6.1.0 asks for an extension's file without it, and gets 404.
describe.skipIf(!script)('as an extension, without a template', { timeout: 600_000 }, () => {
  standing({ extension: true });

  test('the bundle is loaded on every page; ask, allow, see it renamed, go on to a chart', async () => {
    const o = await session('admin');
    const page = await visit(o.page, '/dashboard/list/');
    expect(await page?.text()).not.toContain('embed.js');
    expect(page?.headers()['content-security-policy']).not.toContain('frame-src');
    await expect.poll(() => hasLoader(o.page), { timeout: patience }).toBe(true);
    await renameAndGoOn(o, 'admin');
    expect(o.errors.filter((e) => !known(e))).toEqual([]);
    await visit(o.page, '/superset/dashboard/sales-overview/?standalone=1');
    await o.page.getByText('Revenue by month').waitFor();
    expect(await hasLoader(o.page)).toBe(false);
  });

  test('where Superset has a place for chats it takes that; the frame stays while the panel is closed', async () => {
    const o = await open('about:blank');
    closing.push(o.close);
    o.page.setDefaultTimeout(patience);
    await o.page.addInitScript(chatPlace);
    await logIn(o.page, 'admin');
    await visit(o.page, '/superset/dashboard/sales-overview/');
    const chat = (what: ChatCommand) => o.page.evaluate((w) => (window as unknown as ChatPage).chatPlace[w](), what);
    await expect.poll(() => chat('name').catch(() => ''), { timeout: patience }).toBe('agentd');
    const box = () => o.page.locator('#chat-panel').boundingBox();
    const frame = await panel(o.page); // the button lies over the trigger
    expect(await chat('isOpen')).toBe(true);
    await expect.poll(async () => (await box())?.width).toBe(440);
    await say(frame, 'Find dashboards about sales');
    await frame.locator('[data-state=done]', { hasText: 'search_dashboards' }).waitFor();
    const size = () => frame.evaluate(() => [innerWidth, innerHeight]);
    await chat('dock');
    await expect.poll(size).toEqual([400, 860]);
    expect(await chat('isOpen')).toBe(true);
    await chat('close');
    await expect.poll(() => frame.evaluate(() => document.hasFocus())).toBe(false);
    await chat('open');
    await frame.locator('[data-state=done]', { hasText: 'search_dashboards' }).waitFor(); // not loaded anew
    await frame.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => chat('isOpen')).toBe(false);
    expect(o.errors.filter((e) => !known(e))).toEqual([]);
  });

  test('nobody who is not logged in gets it', async () => {
    const o = await open(`${stand.superset}/login/`);
    closing.push(o.close);
    await o.page.locator('#username').waitFor();
    expect(await hasLoader(o.page)).toBe(false);
  });
});
