import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Frame, Locator, Page } from 'playwright-core';
import { axe, open, overflows, quit, type Look, type Opened } from './browser';
import { Host } from './host';
import { Replay } from './replay';
import { answer, confirm, finished, markdown, states, usage } from './scenes';

// Every state of the page and of the panel, for everybody: both themes, both languages, narrow windows, less motion,
// forced colours.

let server: Replay;
let base: string;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = new Replay(join(import.meta.dirname, '../dist'));
  base = await server.listen();
});
afterAll(async () => {
  await quit();
  await server.close();
});
beforeEach(() => {
  server.logs.clear();
  server.stored = Array.from({ length: 120 }, (_, i) => [i + 1, `row ${i + 1}`]);
  server.script = (t, id) =>
    t === 'ask'
      ? [confirm(`q${id}`, false), confirm(`p${id}`, true), finished('awaiting_confirmation')]
      : t === 'fail'
        ? [{ type: 'run_error', code: 'model_unreachable', message: 'The model does not answer.', retryable: true }]
        : [...states, ...answer(`a${id}`, markdown, 2, 5), usage, finished('max_steps')];
});
afterEach(async () => {
  for (const c of closing.splice(0).reverse()) await c();
});

type Ways = 'page' | 'panel';
const query = (lang: string) => `objectType=dashboard&objectId=42&objectName=Sales&envId=ss-prod&lang=${lang}`;

/** Opens the page by itself, or in the panel on a page of Superset; `at` is where its own document is. */
async function visit(way: Ways, lang: string, look: Look = {}): Promise<{ page: Page; at: Page | Frame; o: Opened }> {
  if (way === 'page') {
    const o = await open(`${base}/agent?${query(lang)}`, look);
    closing.push(o.close);
    await o.page.getByRole('combobox').first().waitFor();
    return { page: o.page, at: o.page, o };
  }
  const host = new Host(base);
  await host.listen();
  closing.push(() => host.close());
  const o = await open(`${host.base}/superset/dashboard/sales/`, look);
  closing.push(o.close);
  await expect.poll(() => o.page.evaluate(() => 'agentd' in window)).toBe(true);
  await o.page.evaluate(() => (window as unknown as { agentd: { cmd: (c: string) => void } }).agentd.cmd('open'));
  const find = () => o.page.frames().find((f) => f.url().includes('embed=1'));
  await expect.poll(() => find() !== undefined).toBe(true);
  const at = find();
  if (!at) throw new Error('no frame');
  await at.getByRole('combobox').first().waitFor();
  await at.getByTestId('context-pill').getByText('Sales overview').waitFor();
  if (lang === 'en') {
    await at.getByRole('button', { name: 'Настройки' }).click();
    await at.locator('dialog select').first().selectOption('en');
    await at.locator('dialog .btn.primary').click();
  }
  await at.locator('header select').selectOption('ss-prod');
  return { page: o.page, at, o };
}
async function say(at: Page | Frame, text: string): Promise<void> {
  await at.locator('#composer').fill(text);
  await at.locator('#composer').press('Enter');
}
const dialog = (at: Page | Frame): Locator => at.locator('dialog[open]');

/** Goes through every state and calls `look` in each; `part` is what is new in it. */
async function tour(page: Page, at: Page | Frame, look: (name: string, part?: string) => Promise<void>): Promise<void> {
  await look('empty');
  await say(at, 'states');
  await at.locator('[data-outcome=max_steps]').waitFor();
  await look('cards, answer, end');
  await at.locator('[data-call=t1] button:has-text("Open result"), [data-call=t1] .btn.small').first().click();
  await dialog(at).locator('tbody tr').first().waitFor();
  await look('stored result', 'dialog[open]');
  await close(at);
  await at
    .locator('header .btn.icon')
    .nth(-1 - (await inPanel(at)))
    .click();
  await dialog(at).locator('select').first().waitFor();
  await look('settings', 'dialog[open]');
  await close(at);
  await at.locator('main').focus();
  await page.keyboard.press('?');
  await dialog(at).locator('kbd').first().waitFor();
  await look('keys', 'dialog[open]');
  await close(at);
  await say(at, 'fail');
  await at.locator('[data-outcome=error]').waitFor();
  await look('failed run', '[data-outcome=error]');
  await say(at, 'ask');
  await at.locator('[data-confirm][data-state=open]').nth(1).waitFor();
  await look('a question and a dangerous one');
  const narrow = await at.evaluate(() => innerWidth <= 900);
  const menu = at.locator('[aria-controls=sidebar]');
  if (narrow) await menu.click();
  await at.locator('nav .item').first().waitFor();
  await look('list of conversations', 'nav');
  await at.locator('nav .inbox').click();
  await dialog(at).locator('li button').first().waitFor();
  await look('open decisions', 'dialog[open]');
  await close(at);
  await at.locator('nav li').first().hover();
  await at.locator('nav .tools button').nth(1).click();
  await dialog(at).waitFor();
  await look('delete?', 'dialog[open]');
  await close(at);
  if (narrow) await at.locator('.veil').click({ position: { x: (await at.evaluate(() => innerWidth)) - 5, y: 100 } });
}
const inPanel = async (at: Page | Frame): Promise<number> => ('context' in at ? 0 : 1);
async function close(at: Page | Frame): Promise<void> {
  await dialog(at).press('Escape');
  await expect.poll(() => dialog(at).count()).toBe(0);
}

// The panel draws the same parts: there each language has one theme.
test.each([
  ['page', 'en', ['light', 'dark']],
  ['page', 'ru', ['light', 'dark']],
  ['panel', 'en', ['light']],
  ['panel', 'ru', ['dark']],
] as const)('axe finds nothing in any state: %s, %s, %s', { timeout: 180_000 }, async (way, lang, schemes) => {
  const { page, at, o } = await visit(way, lang);
  const found: unknown[] = [];
  await tour(page, at, async (name, part) => {
    for (const colorScheme of schemes) {
      // A colour on its way to another one is neither.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const v of await axe(at, part)) found.push({ name, colorScheme, ...v });
    }
  });
  expect(found).toEqual([]);
  expect(await at.evaluate(() => document.documentElement.lang)).toBe(lang);
  expect(o.foreign).toEqual([]);
});

const fingers = ['cards, answer, end', 'a question and a dangerous one', 'list of conversations'];
test.each([
  ['page', 360, 'en'],
  ['panel', 320, 'ru'],
] as const)(
  'nothing is wider than the %s of %i px, and a finger hits everything',
  { timeout: 180_000 },
  async (way, width, lang) => {
    const { page, at } = await visit(way, lang, { width, height: 740, touch: true });
    const found: unknown[] = [];
    await tour(page, at, async (name, part) => {
      for (const wide of await overflows(at)) found.push(`${name}: ${wide}`);
      if (fingers.includes(name)) for (const v of await axe(at, part)) found.push({ name, ...v });
    });
    expect(found).toEqual([]);
  },
);

test('with less motion nothing moves', async () => {
  const { page, at } = await visit('page', 'en');
  server.script = () => states; // the last of its calls never ends, so there is something that turns
  await say(at, 'states');
  await at.locator('[data-state=running]').waitFor();
  const moving = () =>
    at.evaluate(() => {
      const all = [...document.querySelectorAll('*')].flatMap((e) =>
        [undefined, '::before', '::after', '::backdrop'].map((p) => getComputedStyle(e, p)),
      );
      const long = (s: string) => s.split(',').some((t) => parseFloat(t) > 0.01);
      return {
        animations: document.getAnimations().filter((a) => a.playState === 'running').length,
        styles: all.filter(
          (s) => long(s.transitionDuration) || (s.animationName !== 'none' && long(s.animationDuration)),
        ).length,
        smooth: all.filter((s) => s.scrollBehavior === 'smooth').length,
      };
    });
  const usual = await moving();
  expect(usual.animations).toBeGreaterThan(0);
  expect(usual.styles).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await moving()).toEqual({ animations: 0, styles: 0, smooth: 0 });
});

test('with forced colours a state is told by a word and an icon, and what has the focus by an outline', async () => {
  const { page, at } = await visit('page', 'en');
  await page.emulateMedia({ forcedColors: 'active' });
  await say(at, 'states');
  await at.locator('[data-outcome=max_steps]').waitFor();
  await say(at, 'ask');
  await at.locator('[data-confirm]').nth(1).waitFor();
  const cards = await at.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('main .card')].map((card) => {
      const icon = card.querySelector<SVGElement>('.icon svg');
      const border = getComputedStyle(card);
      return {
        state: card.dataset.state,
        told: card.querySelector<HTMLElement>('.text, h3')?.innerText.trim() !== '',
        icon: (icon?.getBoundingClientRect().width ?? 0) > 0,
        border: border.borderTopStyle !== 'none' && parseFloat(border.borderTopWidth) > 0,
      };
    }),
  );
  expect(new Set(cards.map((c) => c.state))).toEqual(
    new Set(['done', 'failed', 'unknown', 'denied', 'stopped', 'open']),
  );
  expect(cards.filter((c) => !c.told || !c.icon || !c.border)).toEqual([]);
  const chosen = await at.evaluate(() => {
    const current = document.querySelector('nav .item[aria-current=true]');
    const system = Object.assign(document.createElement('i'), { style: 'background: Highlight' });
    document.body.append(system);
    const [a, b] = [current, system].map((e) => e && getComputedStyle(e).backgroundColor);
    system.remove();
    return a === b;
  });
  expect(chosen).toBe(true);
  await at.locator('#composer').focus();
  const ring = await at.locator('#composer').evaluate((e) => {
    const all = [e, e.closest('.box')].filter((x) => x !== null).map((x) => getComputedStyle(x));
    return all.some((s) => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2);
  });
  expect(ring).toBe(true);
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, 'forced.png') });
});
