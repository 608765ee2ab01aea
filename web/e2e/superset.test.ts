import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Frame, Page } from 'playwright-core';
import { open, quit, type Opened } from './browser';
import { Stand, script, type Way } from './superset';

// The embedded assistant on the pages of a real Superset, in each of the ways that docs/embedding.md describes.

if (!script) console.log('skipped: set AGENTD_TEST_SUPERSET_EMBED to test/superset/superset.sh to try a real Superset');

const patience = 60_000; // a cold page of Superset takes many seconds on a busy machine
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
async function session(user: string): Promise<Opened> {
  const o = await open(`${stand.superset}/login/`);
  closing.push(o.close);
  o.page.setDefaultTimeout(patience);
  await logIn(o.page, user);
  return o;
}
/** Logs in. Superset's page may not be listening yet when it is filled in: then it is done once more. */
async function logIn(page: Page, user: string): Promise<void> {
  await untilThere(page, '/login/', async () => {
    await page.locator('#username').fill(user);
    await page.locator('#password').fill(user);
    await page.locator('#password').press('Enter');
    await page.waitForURL((u) => !u.pathname.includes('/login/'), { timeout: 20_000 }); // the first page, or the one that was lost
  });
}
/** Leaves as the menu does, also from a page that is still loading and aborts the first try. */
async function logOut(page: Page): Promise<void> {
  await untilThere(page, '/logout/', () => page.waitForURL(/\/login\//, { timeout: 20_000 }));
  await page.locator('#username').waitFor();
}
/** Goes to a page of Superset and does something there, up to three times. */
async function untilThere(page: Page, path: string, act: () => Promise<void>): Promise<void> {
  for (let left = 2; ; left--) {
    try {
      if (!page.url().includes(path)) await page.goto(`${stand.superset}${path}`);
      return await act();
    } catch (e) {
      if (left === 0) throw e;
    }
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
const whoIs = (f: Frame): Promise<string> =>
  f.evaluate(async () => {
    const res = await fetch(new URL('api/v1/me', document.baseURI));
    return res.ok ? ((await res.json()) as { user: string }).user : String(res.status);
  });
/** What the panel does when its window gets the focus again, and once a minute. */
const looksAgain = (f: Frame) => f.evaluate(() => void dispatchEvent(new Event('focus')));

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

async function dashboardFromTheList(page: Page): Promise<void> {
  await page.goto(`${stand.superset}/dashboard/list/`);
  await page.evaluate(() => Object.assign(window, { sameLoad: true }));
  await page.locator('a[href*="/superset/dashboard/sales-overview"]').first().click();
  await page.waitForURL(/dashboard\/sales-overview/);
}

/** The main path: ask on a dashboard, allow the change, see it in Superset, go on to a chart in the same load. */
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

  await page.locator('[data-test=slice-header] a', { hasText: 'Revenue by month' }).click();
  await page.waitForURL(/\/explore\/.*slice_id=3/);
  await pill(frame).getByText('Revenue by month').waitFor();
  await frame.getByText('Context changed: Revenue by month').first().waitFor();
  await frame.locator('[data-state=done]', { hasText: 'update_dashboard' }).waitFor(); // it is still the conversation
  await page.goBack();
  await page.waitForURL(/dashboard\/sales-overview/);
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

describe.skipIf(!script)('behind the proxy, with the default policy of Superset', { timeout: 300_000 }, () => {
  standing('proxy');

  test('ask, allow, see it renamed, go on to a chart', async () => {
    const o = await session('admin');
    const policy = (await o.page.goto(`${stand.superset}/superset/welcome/`))?.headers()['content-security-policy'];
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
    await o.page.goto(`${stand.superset}/superset/dashboard/sales-overview/?standalone=1`);
    await o.page.getByText('Revenue by month').waitFor();
    expect(await hasLoader(o.page)).toBe(false);
  });

  test('who logs out is signed out; who logs in next is somebody else', async () => {
    const o = await session('admin');
    await o.page.goto(`${stand.superset}/superset/dashboard/sales-overview/`);
    const frame = await panel(o.page);
    await expect.poll(() => whoIs(frame), { timeout: patience }).toBe('admin');
    await say(frame, 'Find dashboards about sales');
    await frame.locator('[data-state=done]', { hasText: 'search_dashboards' }).waitFor();
    const other = await o.context.newPage();
    other.setDefaultTimeout(patience);
    await other.goto(`${stand.superset}/superset/welcome/`);
    await logOut(other);
    await expect.poll(() => whoIs(frame), { timeout: patience }).toBe('401');
    await looksAgain(frame);
    await frame.getByText('Your session has expired').first().waitFor();
    await logIn(other, 'gamma');
    await expect.poll(() => whoIs(frame), { timeout: patience }).toBe('gamma');
    await looksAgain(frame);
    await frame.getByText('Another user has signed in').first().waitFor();
    await other.goto(`${stand.superset}/superset/dashboard/sales-overview/`);
    const second = await panel(other);
    await expect.poll(() => whoIs(second), { timeout: patience }).toBe('gamma');
    await second.getByRole('button', { name: 'Conversations' }).click();
    await second.getByRole('button', { name: 'New conversation' }).first().waitFor();
    expect(await second.getByText('Find dashboards about sales').count()).toBe(0);
  });

  test('a page of another origin may not frame it', async () => {
    const o = await hostile(`${stand.agentd}/agent?embed=1`);
    await expect.poll(() => o.errors.join(), { timeout: patience }).toContain('frame-ancestors');
  });
});

describe.skipIf(!script)('on an origin of its own, with the hand-over', { timeout: 300_000 }, () => {
  standing('own-origin');

  test('signed in by the page of Superset: ask, allow, see it renamed, go on to a chart', async () => {
    const o = await session('admin');
    const policy = (await o.page.goto(`${stand.superset}/superset/welcome/`))?.headers()['content-security-policy'];
    expect(policy).toContain(`frame-src 'self' ${stand.agentd}`);
    const told = await o.page.locator('#app').getAttribute('data-bootstrap');
    expect((JSON.parse(told ?? '{}') as { common: { agentd: unknown } }).common.agentd).toEqual({
      base: `${stand.agentd}/`,
      handover: '/agentd-handover',
    }); // for the extension
    const tokens: Promise<{ token: string }>[] = [];
    o.page.on('response', (r) => {
      if (r.url().endsWith('/agentd-handover')) tokens.push(r.json() as Promise<{ token: string }>);
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
    await o.page.goto(`${stand.superset}/superset/dashboard/sales-overview/`);
    const first = await panel(o.page);
    await expect.poll(() => whoIs(first), { timeout: patience }).toBe('admin');
    const before = await o.context.cookies(stand.agentd);
    await logOut(o.page);
    expect(await hasLoader(o.page)).toBe(false);
    await logIn(o.page, 'gamma');
    await o.page.goto(`${stand.superset}/superset/dashboard/sales-overview/`);
    const frame = await panel(o.page);
    await expect.poll(() => whoIs(frame), { timeout: patience }).toBe('gamma');
    await frame.locator('.banner', { hasText: 'Your session has expired' }).waitFor({ state: 'hidden' });
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
    await o.page.goto(`${stand.superset}/superset/dashboard/sales-overview/`);
    const frame = await panel(o.page);
    await expect.poll(() => whoIs(frame), { timeout: patience }).toBe('admin');
    const ended = () => o.context.clearCookies({ domain: 'agentd.bi.localhost' });
    await ended();
    expect(await whoIs(frame)).toBe('401');
    await looksAgain(frame);
    await expect.poll(() => whoIs(frame), { timeout: patience }).toBe('admin');
    const other = await o.context.newPage();
    other.setDefaultTimeout(patience);
    await other.goto(`${stand.superset}/superset/welcome/`);
    await logOut(other);
    await ended();
    const asked = o.page.waitForResponse((r) => r.url().endsWith('/agentd-handover'));
    await Promise.all([asked, looksAgain(frame)]);
    expect((await asked).status()).toBe(401);
    await frame.locator('.banner', { hasText: 'Your session has expired' }).waitFor();
    expect(await whoIs(frame)).toBe('401');
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

describe.skipIf(!script)('below an application root', { timeout: 300_000 }, () => {
  standing('app-root');

  test('the path of the cookie covers agentd; ask, allow, see it renamed, go on to a chart', async () => {
    const o = await session('admin');
    await renameAndGoOn(o, 'admin');
    expect(o.errors.filter((e) => !known(e))).toEqual([]);
    expect(await o.context.cookies()).toMatchObject([{ name: 'session', path: '/bi' }]);
  });
});

describe.skipIf(!script)('as an extension, without a template', { timeout: 300_000 }, () => {
  standing('extension');

  test('the bundle is loaded on every page; ask, allow, see it renamed, go on to a chart', async () => {
    const o = await session('admin');
    const page = await o.page.goto(`${stand.superset}/superset/welcome/`);
    expect(await page?.text()).not.toContain('embed.js');
    expect(page?.headers()['content-security-policy']).not.toContain('frame-src');
    await expect.poll(() => hasLoader(o.page), { timeout: patience }).toBe(true);
    await renameAndGoOn(o, 'admin');
    expect(o.errors.filter((e) => !known(e))).toEqual([]);
    await o.page.goto(`${stand.superset}/superset/dashboard/sales-overview/?standalone=1`);
    await o.page.getByText('Revenue by month').waitFor();
    expect(await hasLoader(o.page)).toBe(false);
  });

  test('nobody who is not logged in gets it', async () => {
    const o = await open(`${stand.superset}/login/`);
    closing.push(o.close);
    await o.page.locator('#username').waitFor();
    expect(await hasLoader(o.page)).toBe(false);
  });
});
