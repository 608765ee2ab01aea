import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { open, quit } from './browser';
import { Replay, type Payload } from './replay';
import { answer, finished, markdown } from './scenes';

// Loose limits: they catch work that grows with the length of an answer or of a conversation, not a slow machine.

let server: Replay;
let base: string;

beforeAll(async () => {
  server = new Replay(join(import.meta.dirname, '../dist'));
  base = await server.listen();
});
afterAll(async () => {
  await quit();
  await server.close();
});

test('an answer of 50 KB costs less than three seconds of script and ends at its end', async () => {
  const text = markdown.repeat(Math.ceil(50_000 / markdown.length));
  server.script = (_t, id) => [...answer(`a${id}`, text, 400, 15), finished()];
  const o = await open(`${base}/agent?lang=en`);
  const cdp = await o.context.newCDPSession(o.page);
  await cdp.send('Performance.enable');
  const script = async () =>
    (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'ScriptDuration')?.value ?? 0;
  const before = await script();
  await o.page.locator('#composer').fill('go');
  await o.page.locator('#composer').press('Enter');
  await o.page.getByRole('button', { name: 'Bad answer' }).waitFor({ timeout: 60_000 });
  const spent = (await script()) - before;
  const distance = await o.page.locator('main').evaluate((m) => m.scrollHeight - m.scrollTop - m.clientHeight);
  console.log(
    `50 KB answer: script ${spent.toFixed(2)} s, ${await o.page.evaluate(() => document.querySelectorAll('*').length)} elements`,
  );
  expect(spent).toBeLessThan(3);
  expect(distance).toBeLessThan(2);
  await o.close();
});

test('a conversation of 200 turns loads and stays quick', async () => {
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
    { type: 'message', run_id: `r${n}`, message_id: `a${n}`, role: 'assistant', text: markdown },
    { type: 'run_finished', run_id: `r${n}`, outcome: 'answered' },
  ];
  server.logs.set(id, []);
  for (let n = 0; n < 200; n++) for (const e of one(n)) server.append(id, e);
  server.script = (_t, m) => [...answer(`live${m}`, 'word '.repeat(300), 60, 16), finished()];
  const began = Date.now();
  const o = await open(`${base}/agent?lang=en&c=${id}`);
  await o.page.getByText('question 199').waitFor();
  const loaded = Date.now() - began;
  await o.page.evaluate(() => {
    const frames: number[] = [];
    (window as unknown as { frames_: number[] }).frames_ = frames;
    let last = performance.now();
    const next = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await o.page.locator('#composer').fill('go');
  await o.page.locator('#composer').press('Enter');
  // Asked by a selector: asking by role walks the whole page, and would be what is measured.
  await expect.poll(() => o.page.locator('main button[aria-pressed]').count(), { timeout: 20_000 }).toBe(402);
  const frames = await o.page.evaluate(() =>
    (window as unknown as { frames_: number[] }).frames_.toSorted((a, b) => a - b),
  );
  const at = (p: number) => frames[Math.floor(frames.length * p)] ?? 0;
  console.log(`200 turns: load ${loaded} ms, frames p50 ${at(0.5).toFixed(1)} p95 ${at(0.95).toFixed(1)} ms`);
  expect(at(0.95)).toBeLessThan(100);
  await o.close();
});
