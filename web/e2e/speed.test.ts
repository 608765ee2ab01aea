import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { open, quit, type Opened } from './browser';
import { Replay, type Payload } from './replay';
import { answer, confirm, finished, markdown, start, table } from './scenes';

// What an answer costs and where the reader stays. Costs are CPU time of the page's main thread, held against a fixed
// piece of work in the same browser: they catch work that grows with an answer or a conversation, not a slow machine.

let server: Replay;
let base: string;
const opened: Opened[] = [];

beforeAll(async () => {
  server = new Replay(process.env.DIST ?? join(import.meta.dirname, '../dist'));
  base = await server.listen();
});
afterAll(async () => {
  await quit();
  await server.close();
});
afterEach(async () => {
  for (const o of opened.splice(0)) await o.close();
});

async function visit(query = ''): Promise<Page> {
  const o = await open(`${base}/agent?lang=en${query}`);
  opened.push(o);
  await o.page.locator('#composer').waitFor();
  return o.page;
}
async function say(page: Page, text: string): Promise<void> {
  await page.locator('#composer').fill(text);
  await page.locator('#composer').press('Enter');
}
const ends = (page: Page) => page.getByRole('button', { name: 'Bad answer' });
const distance = (page: Page) =>
  page.locator('main').evaluate((m) => Math.abs(m.scrollHeight - m.scrollTop - m.clientHeight));

const seconds = (n: number) => `${n.toFixed(2)} s`;

/** The page's meters, in the main thread's own time. */
async function measured(page: Page): Promise<CDPSession> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  return cdp;
}
async function metrics(cdp: CDPSession): Promise<Record<'Task' | 'Script' | 'Layout' | 'RecalcStyle', number>> {
  const { metrics: all } = await cdp.send('Performance.getMetrics');
  const of = (name: string) => all.find((m) => m.name === `${name}Duration`)?.value ?? 0;
  return { Task: of('Task'), Script: of('Script'), Layout: of('Layout'), RecalcStyle: of('RecalcStyle') };
}
async function spent(cdp: CDPSession, act: () => Promise<unknown>): ReturnType<typeof metrics> {
  const before = await metrics(cdp);
  await act();
  const after = await metrics(cdp);
  return {
    Task: after.Task - before.Task,
    Script: after.Script - before.Script,
    Layout: after.Layout - before.Layout,
    RecalcStyle: after.RecalcStyle - before.RecalcStyle,
  };
}
/** Six thousand paragraphs made and laid out: takes about as long as an answer of 50 KB may. */
const yardstick = (page: Page) =>
  page.evaluate(() => {
    const box = document.createElement('div');
    document.body.append(box);
    const words = 'word '.repeat(20);
    for (let k = 0; k < 60; k++) {
      box.replaceChildren(
        ...Array.from({ length: 100 }, (_, i) => {
          const p = document.createElement('p');
          p.textContent = `${k} ${i} ${words}`;
          return p;
        }),
      );
      void box.offsetHeight;
    }
    box.remove();
  });

test('an answer of 50 KB in pieces of 24 characters costs little, and ends at its end', async () => {
  const text = markdown.repeat(Math.ceil(50_000 / markdown.length)).slice(0, 50_000);
  server.script = (_t, id) => [...answer(`a${id}`, text, Math.ceil(text.length / 24), 1), finished()];
  const page = await visit();
  const cdp = await measured(page);
  await yardstick(page);
  const fixed = await spent(cdp, () => yardstick(page));
  const cost = await spent(cdp, async () => {
    await say(page, 'go');
    // Not asked of the page meanwhile: that would be measured too.
    await expect.poll(() => [...server.logs.values()].at(-1)?.at(-1)?.type, { timeout: 60_000 }).toBe('run_finished');
    // By a selector: asking by role walks the whole page, and would be what is measured.
    await page.locator('main button[aria-pressed]').first().waitFor();
  });
  console.log(
    `50 KB answer: main thread ${seconds(cost.Task)} (script ${seconds(cost.Script)}, layout ${seconds(cost.Layout)}, ` +
      `style ${seconds(cost.RecalcStyle)}); yardstick ${seconds(fixed.Task)}`,
  );
  expect(await page.locator('main article').last().innerText()).toContain(text.trim().slice(-20));
  expect(cost.Task).toBeLessThan(Math.max(0.8, 6 * fixed.Task));
  expect(await distance(page)).toBeLessThan(1);
});

describe('the place of the reader', () => {
  const long = markdown.repeat(12);

  test('at the end it is the end, whatever comes', async () => {
    const page = await visit();
    const runs: (Payload | number)[][] = [
      [...answer('a1', long, 200, 1), finished()],
      [...table, 60, ...answer('a2', 'Short.', 2, 1), finished()],
      [start('s', 'get_dashboard', {}), 60, ...answer('a3', long, 20, 5), finished('max_steps')],
      [{ type: 'run_error', code: 'model_unreachable', message: 'The model does not answer.', retryable: true }],
      [confirm('q1', false), finished('awaiting_confirmation')],
    ];
    for (const [n, steps] of runs.entries()) {
      server.script = () => steps;
      await say(page, `question ${n}`);
      await page.getByText(`question ${n}`, { exact: true }).last().waitFor();
      await expect.poll(() => [...server.logs.values()].at(-1)?.at(-1)?.type).toMatch(/^run_/);
      await page
        .locator(n === 4 ? '[data-confirm]' : n === 3 ? '[data-outcome=error]' : `.actions >> nth=${n}`)
        .waitFor();
      await expect.poll(() => distance(page)).toBeLessThan(1);
    }
  });

  test('who scrolled up stays at the pixel while text comes below and cards above are resolved', async () => {
    const page = await visit();
    server.script = () => [...answer('b1', long, 20, 1), finished()];
    await say(page, 'first');
    await ends(page).waitFor();
    const id = [...server.logs.keys()].at(-1) ?? '';
    server.script = () => [
      start('c1', 'search_dashboards', {}),
      start('c2', 'get_dashboard', {}),
      ...answer('b2', long, 50, 1),
    ];
    await say(page, 'second');
    await page.locator('[data-call=c2]').waitFor();
    await expect.poll(() => server.logs.get(id)?.at(-1)?.type).toBe('message');
    const main = page.locator('main');
    // In the middle of the second answer: its cards are above the screen, its end is below.
    await main.hover();
    await page.mouse.wheel(0, -2000);
    await page.getByRole('button', { name: 'To the latest' }).waitFor();
    const mark = await main.evaluateHandle((m) => {
      const box = m.getBoundingClientRect();
      const all = [...m.querySelectorAll('article:last-of-type .prose')];
      return all.find((e) => e.getBoundingClientRect().top > box.top + 100) ?? m;
    });
    const place = () => mark.evaluate((e) => e.getBoundingClientRect().top);
    const settled = () => page.evaluate(() => new Promise((f) => requestAnimationFrame(() => setTimeout(f))));
    await settled();
    const before = await place();
    const run_id = String(server.logs.get(id)?.at(-1)?.run_id);
    const result = table.at(-1) as Payload;
    const play = (...steps: (Payload | number)[]) =>
      server.play(
        id,
        steps.map((e) => (typeof e === 'number' ? e : { run_id, ...e })),
      );
    await play(...answer('b3', long, 100, 2));
    await settled();
    expect(await place()).toBe(before);
    await play(
      { ...result, call_id: 'c1' },
      {
        type: 'tool_retry',
        call_id: 'c2',
        tool: 'get_dashboard',
        attempt: 2,
        max_attempts: 2,
        delay_ms: 1,
        reason: { class: 'transient', status: 503 },
      },
      30,
      {
        type: 'tool_error',
        call_id: 'c2',
        tool: 'get_dashboard',
        class: 'transient',
        message: 'No answer.',
        retryable: true,
        retry_exhausted: true,
      },
      30,
      confirm('q2', false),
      finished('awaiting_confirmation'),
    );
    await page.locator('[data-confirm]').waitFor({ state: 'attached' });
    await page.locator('[data-call=c1] table').waitFor({ state: 'attached' });
    await settled();
    // The heights above are no whole pixels; where the browser draws is.
    expect(Math.abs((await place()) - before)).toBeLessThan(1);
    await page.getByRole('button', { name: 'To the latest' }).click();
    await expect.poll(() => distance(page)).toBeLessThan(1);
  });
});

test('a conversation of 200 turns loads, stays quick, and stays where the reader is', async () => {
  const id = 'long';
  const one = (n: number): Payload[] => [
    { type: 'message', run_id: `r${n}`, message_id: `u${n}`, role: 'user', text: `question ${n}` },
    {
      type: 'run_started',
      run_id: `r${n}`,
      cause: 'message',
      message_id: `u${n}`,
      env_id: '',
      ui_context: {},
      tools: [],
    },
    { type: 'message', run_id: `r${n}`, message_id: `a${n}`, role: 'assistant', text: markdown.repeat(1 + (n % 3)) },
    { type: 'run_finished', run_id: `r${n}`, outcome: 'answered' },
  ];
  server.logs.set(id, []);
  for (let n = 0; n < 200; n++) for (const e of one(n)) server.append(id, e);
  server.script = (_t, m) => [...answer(`live${m}`, 'word '.repeat(300), 60, 16), finished()];
  const began = Date.now();
  const page = await visit(`&c=${id}`);
  await page.getByText('question 199').waitFor();
  const loaded = Date.now() - began;
  await expect.poll(() => distance(page)).toBeLessThan(1);
  /** The time between two frames that all but one in twenty keep. */
  const p95 = async (during: () => Promise<unknown>): Promise<number> => {
    const frames = await page.evaluateHandle(() => {
      const seen: number[] = [];
      let last = performance.now();
      const next = () => {
        const now = performance.now();
        seen.push(now - last);
        last = now;
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
      return seen;
    });
    await during();
    return frames.evaluate((seen) => seen.toSorted((a, b) => a - b)[Math.floor(seen.length * 0.95)] ?? 0);
  };
  const cdp = await measured(page);
  await yardstick(page);
  const fixed = await spent(cdp, () => yardstick(page));
  const idle = await p95(() => page.evaluate(() => new Promise((f) => setTimeout(f, 1000))));
  let busy = 0;
  const cost = await spent(cdp, async () => {
    busy = await p95(async () => {
      await say(page, 'go');
      // Asked by a selector: asking by role walks the whole page, and would be what is measured.
      await expect.poll(() => page.locator('main .actions').count(), { timeout: 20_000 }).toBe(201);
    });
  });
  console.log(
    `200 turns: load ${loaded} ms, 95 % of frames within ${busy.toFixed(1)} ms (idle ${idle.toFixed(1)} ms), ` +
      `main thread ${seconds(cost.Task)}; yardstick ${seconds(fixed.Task)}`,
  );
  // How long a frame takes is also what else the machine does; what the page does in it is not. Seen: 1.1 to 1.6 times;
  // with all turns drawn anew for each piece of text it is far more.
  expect(cost.Task).toBeLessThan(5 * fixed.Task);
  await expect.poll(() => distance(page)).toBeLessThan(1);

  // Turns that were never drawn get their sizes while one reads upwards; what is read must not jump.
  const main = page.locator('main');
  await main.hover();
  for (let step = 0; step < 12; step++) {
    const before = await main.evaluate((m) => {
      const box = m.getBoundingClientRect();
      const e = [...m.querySelectorAll('.prose')].find((p) => p.getBoundingClientRect().top > box.top + 50);
      (window as unknown as { mark: Element | undefined }).mark = e;
      return e ? e.getBoundingClientRect().top : NaN;
    });
    await page.mouse.wheel(0, -500);
    const moved = () =>
      main.evaluate((_m, was) => {
        const { mark } = window as unknown as { mark: Element | undefined };
        return mark ? Math.abs(mark.getBoundingClientRect().top - was - 500) : NaN;
      }, before);
    await expect.poll(moved).toBeLessThan(1);
  }
});
