import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { Agentd } from './agentd';
import { open, quit, type Opened } from './browser';
import { answered, Model, said } from './model';

// The whole job without a mouse and without eyes, against the built server.

const model = new Model();
let server: Agentd;
const opened: Opened[] = [];

beforeAll(async () => {
  await model.listen();
  server = await Agentd.demo({ model: model.url });
});
beforeEach(() => {
  model.answer = (q) => {
    if (answered(q)) return Array.from({ length: 200 }, (_, i) => `word${i} `);
    if (said(q).startsWith('rename'))
      return [{ tool: 'update_dashboard', args: { dashboard: 1, patch: { title: 'By keyboard' } } }];
    const sql = 'SELECT customer_id, name, email, country, segment, credit_limit FROM customers ORDER BY 1 LIMIT 120';
    return ['Let me look. ', { tool: 'run_sql', args: { database_id: 1, sql, whole: true } }];
  };
});
afterAll(async () => {
  await quit();
  await server.stop();
  await model.close();
});
afterEach(async () => {
  for (const o of opened.splice(0)) await o.close();
});

async function visit(): Promise<Page> {
  const o = await open(`${server.page}?envId=ss-dev&lang=en`);
  opened.push(o);
  await o.page.getByRole('combobox', { name: 'Environment' }).waitFor();
  return o.page;
}

/** What has the focus: its name, and whether one sees that it has it. */
const focus = (page: Page): Promise<{ tag: string; name: string; seen: boolean }> =>
  page.evaluate(() => {
    const e = document.activeElement as HTMLElement;
    const box = e.getBoundingClientRect();
    const styles = [e, e.closest<HTMLElement>('.box'), e.closest<HTMLElement>('.search')]
      .filter((x) => x !== null)
      .map((x) => getComputedStyle(x));
    const ring = styles.some(
      (s) => (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) || /0px 0px 0px 2px/.test(s.boxShadow),
    );
    let opacity = 1;
    for (let p: Element | null = e; p; p = p.parentElement) opacity *= Number(getComputedStyle(p).opacity);
    return {
      tag: e.tagName,
      name: (e.getAttribute('aria-label') ?? e.innerText).trim(),
      seen: ring && opacity > 0.5 && box.width > 0 && box.bottom > 0 && box.top < innerHeight,
    };
  });
/** Tab until something of this name has the focus. On the way nothing may have it unseen. */
async function tabTo(page: Page, name: RegExp, most = 60, key = 'Tab'): Promise<void> {
  for (let n = 0; n < most; n++) {
    await page.keyboard.press(key);
    const at = await focus(page);
    if (at.tag === 'BODY') continue; // the browser's own controls
    await page.evaluate(() =>
      Promise.all(
        document
          .getAnimations()
          .map((a) =>
            a.playState === 'running' && a.effect?.getTiming().iterations !== Infinity ? a.finished : undefined,
          ),
      ),
    );
    expect(await focus(page)).toMatchObject({ seen: true });
    if (name.test(at.name)) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}
const ready = (page: Page) => page.getByRole('button', { name: 'Send' }).waitFor();

test('by keyboard alone: ask, allow, read, page through a result, rename and delete the conversation', async () => {
  const page = await visit();
  await page.keyboard.press('Tab');
  expect(await focus(page)).toEqual({ tag: 'A', name: 'Skip to the message field', seen: true });
  await page.keyboard.press('Enter');
  await page.keyboard.type('rename it');
  expect(await focus(page)).toEqual({ tag: 'TEXTAREA', name: 'Message to the agent', seen: true });
  await page.keyboard.press('Enter');
  await page.locator('[data-confirm][data-state=open]').waitFor();
  expect((await focus(page)).tag).toBe('TEXTAREA');

  // To the question, and through it: Cancel comes before Run.
  await page.keyboard.press('Alt+Shift+D');
  expect(await focus(page)).toMatchObject({ tag: 'H3', seen: true });
  await tabTo(page, /^(Cancel|Run)$/, 15);
  expect((await focus(page)).name).toBe('Cancel');
  await page.keyboard.press('Tab');
  expect(await focus(page)).toEqual({ tag: 'BUTTON', name: 'Run', seen: true });
  await page.keyboard.press('Enter');
  await page.locator('[data-confirm][data-state=approved]').waitFor();
  await page.getByText('word199').waitFor();
  await ready(page);
  expect((await focus(page)).tag).toBe('H3'); // still at the question, though its buttons are gone

  // The answer, turn by turn; then the next question.
  await page.keyboard.press('Alt+ArrowDown');
  expect((await focus(page)).tag).toBe('H2');
  await page.keyboard.press('/');
  await page.keyboard.type('show me customers');
  await page.keyboard.press('Enter');
  await page.locator('[data-state=done]', { hasText: 'run_sql' }).waitFor();
  await page.getByText('word199').nth(1).waitFor();
  await ready(page);

  // The stored result.
  await tabTo(page, /^Open result$/, 40, 'Shift+Tab');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog');
  await panel.getByText('Rows 1–50 of 120').waitFor();
  await tabTo(page, /^Next$/);
  await page.keyboard.press('Enter');
  await panel.getByText('Rows 51–100 of 120').waitFor();
  expect((await focus(page)).name).toBe('Next');
  await page.keyboard.press('Enter');
  await panel.getByText('Rows 101–120 of 120').waitFor();
  expect((await focus(page)).name).toBe('Next'); // though there is no next one
  await page.keyboard.press('Enter');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await panel.getByText('Rows 51–100 of 120').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => panel.count()).toBe(0);
  expect((await focus(page)).name).toBe('Open result');

  // The list of conversations.
  await page.keyboard.press('Alt+Shift+N');
  await page.getByRole('heading', { name: 'How can I help?' }).waitFor();
  expect((await focus(page)).tag).toBe('TEXTAREA');
  await tabTo(page, /^Rename: rename it$/, 60, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('Named by keyboard');
  await page.keyboard.press('Enter');
  const item = page.locator('nav').getByRole('button', { name: 'Named by keyboard', exact: true });
  await item.waitFor();
  expect(await focus(page)).toEqual({ tag: 'BUTTON', name: 'Rename: Named by keyboard', seen: true });
  await page.keyboard.press('Tab');
  expect((await focus(page)).name).toBe('Delete: Named by keyboard');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Delete this conversation?' }).waitFor();
  await tabTo(page, /^Delete$/, 5);
  await page.keyboard.press('Enter');
  await expect.poll(() => item.count()).toBe(0);
  expect(await focus(page)).toEqual({ tag: 'BUTTON', name: 'New conversation', seen: true });

  // The list of keys, the settings, and back.
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+B');
  await expect.poll(() => page.locator('nav').isVisible()).toBe(false);
});

test('Escape stops, and the focus is where one goes on', async () => {
  const page = await visit();
  model.answer = () => ['Before. ', new Promise(() => undefined)];
  await page.keyboard.press('/');
  await page.keyboard.type('go');
  await page.keyboard.press('Enter');
  await page.getByText('Before.').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('[data-outcome=cancelled]').waitFor();
  expect((await focus(page)).tag).toBe('TEXTAREA');
  await page.keyboard.type('go on');
  await page.keyboard.press('Enter');
  await page.getByText('Before.').nth(1).waitFor();
  await tabTo(page, /^Stop$/, 3);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('[data-outcome=cancelled]').count()).toBe(2);
  expect((await focus(page)).tag).toBe('TEXTAREA');
});

test('what is spoken: the boundaries of a run, never its words', async () => {
  const page = await visit();
  const regions = () => page.locator('[role=status], [role=alert], [role=log], [aria-live]').count();
  expect(await regions()).toBe(2);
  await page.evaluate(() => {
    const spoken: string[] = [];
    Object.assign(window, { spoken });
    const seen = (n: Node) => {
      const e = n instanceof Element ? n : n.parentElement;
      const region = e?.closest('[role=status], [role=alert], [role=log], [aria-live]');
      if (region?.textContent) spoken.push(`${region.getAttribute('role')}: ${region.textContent.trim()}`);
    };
    new MutationObserver((all) => all.forEach((m) => seen(m.target))).observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  const spoken = () => page.evaluate(() => (window as unknown as { spoken: string[] }).spoken);
  // Said after seven seconds, which a busy machine may need.
  const told = async () => (await spoken()).filter((s) => s !== 'status: The agent is still answering');
  await page.locator('#composer').fill('show me customers');
  await page.locator('#composer').press('Enter');
  await page.getByText('word199').waitFor();
  await expect.poll(told).toEqual(['status: The agent is answering', 'status: The agent has answered']);
  await page.locator('#composer').fill('rename it');
  await page.locator('#composer').press('Enter');
  await page.locator('[data-confirm]').waitFor();
  await expect
    .poll(async () => (await told()).slice(2).toSorted())
    .toEqual(['alert: Your decision is needed', 'status: The agent is answering']);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('word199').nth(1).waitFor();
  await expect
    .poll(async () => (await told()).slice(4))
    .toEqual([
      expect.stringMatching(/^status: You allowed this at /),
      'status: The agent is answering',
      'status: The agent has answered',
    ]);
  expect((await spoken()).filter((s) => /word\d|customer|Let me look/.test(s))).toEqual([]);
  expect(await regions()).toBe(2);
});
