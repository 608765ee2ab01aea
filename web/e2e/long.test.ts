import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Agentd } from './agentd';
import { open, quit, type Opened } from './browser';
import { gate, Model, said } from './model';
import { markdown } from './scenes';

// Very long answers and very long conversations, with the built server. Limits are loose: they catch work that grows
// with what is there already, not a slow machine.

const model = new Model();
let server: Agentd;
const opened: Opened[] = [];

beforeAll(async () => {
  await model.listen();
  server = await Agentd.demo({ model: model.url });
});
afterAll(async () => {
  await quit();
  await server.stop();
  await model.close();
});
afterEach(async () => {
  for (const o of opened.splice(0)) await o.close();
});

async function visit(query: string): Promise<Opened> {
  const o = await open(`${server.page}?lang=en&${query}`);
  opened.push(o);
  await o.page.getByRole('combobox', { name: 'Environment' }).waitFor();
  return o;
}
const heapMB = async (o: Opened): Promise<number> => {
  const cdp = await o.context.newCDPSession(o.page);
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
};

test('an answer of 200 KB is there once, whole, in order, and the page can be used meanwhile', async () => {
  const parts: string[] = [];
  for (let n = 0, size = 0; size < 200_000; n++) {
    const part = `## Part ${n}\n\n${markdown}\n`;
    parts.push(part);
    size += part.length;
  }
  const half = gate();
  const pieces = (list: string[]) => list.join('').match(/[\s\S]{1,400}/gu) ?? [];
  const middle = parts.length / 2;
  model.answer = () => [...pieces(parts.slice(0, middle)), half.opened, ...pieces(parts.slice(middle))];
  const o = await visit('envId=ss-dev');
  await o.page.locator('#composer').fill('all of it');
  await o.page.locator('#composer').press('Enter');
  await o.page.getByText(`Part ${Math.floor(middle) - 2}`, { exact: true }).waitFor();
  // Half of it is drawn and the rest may come at any time: what is typed is there at once.
  await o.page.locator('#composer').pressSequentially('typed meanwhile');
  expect(await o.page.locator('#composer').inputValue()).toBe('typed meanwhile');
  half.open();
  await o.page.getByRole('button', { name: 'Bad answer' }).waitFor({ timeout: 60_000 });
  const heads = () =>
    o.page.locator('main').evaluate((m) => [...m.querySelectorAll('h3')].map((h) => h.textContent ?? ''));
  const want = parts.map((_, n) => `Part ${n}`);
  const text = () => o.page.locator('main').evaluate((m) => m.textContent?.length ?? 0);
  const shown = (await heads()).filter((h) => h.startsWith('Part '));
  expect(shown).toEqual(want);
  const streamed = await text();
  expect(streamed).toBeGreaterThan(120_000);
  const heap = await heapMB(o);
  const elements = await o.page.evaluate(() => document.querySelectorAll('*').length);
  console.log(`200 KB answer: ${elements} elements, heap ${heap.toFixed(0)} MB`);
  expect(heap).toBeLessThan(120);
  await o.page.reload();
  await o.page.getByRole('button', { name: 'Bad answer' }).waitFor({ timeout: 60_000 });
  expect((await heads()).filter((h) => h.startsWith('Part '))).toEqual(want);
  expect(await text()).toBe(streamed); // streamed and stored are drawn alike
});

test('a conversation of 500 turns loads, scrolls, is searched, and goes on', { timeout: 180_000 }, async () => {
  // The model is sent all of it each time, so most answers are short.
  model.answer = (q) => [`${said(q)} is answered.`, said(q).endsWith('0') ? `\n\n${markdown}` : ''];
  const began = Date.now();
  const id = await conversation(500);
  const made = Date.now();
  const o = await visit(`c=${id}`);
  await o.page.getByText('question 499 is answered.').waitFor({ timeout: 60_000 });
  const loaded = Date.now();
  console.log(
    `500 turns: made in ${made - began} ms, loaded in ${loaded - made} ms, heap ${(await heapMB(o)).toFixed(0)} MB`,
  );
  expect(await heapMB(o)).toBeLessThan(150);
  // The browser's own search finds what is far away; shown, it stays where the reader sees it.
  const main = o.page.locator('main');
  const found = await o.page.evaluate(() => {
    const page = window as unknown as { find: (text: string, exact: boolean, back: boolean, wrap: boolean) => boolean };
    const there = page.find('question 7 is answered.', true, true, true);
    getSelection()?.anchorNode?.parentElement?.scrollIntoView({ block: 'center' });
    return there;
  });
  expect(found).toBe(true);
  await o.page.getByRole('button', { name: 'To the latest' }).waitFor();
  const there = () =>
    o.page.getByText('question 7 is answered.').evaluate((e) => {
      const { top } = e.getBoundingClientRect();
      return top > 0 && top < innerHeight;
    });
  await expect.poll(there).toBe(true);
  // Up by the keyboard to the first turn, and back down.
  await main.focus();
  await o.page.keyboard.press('Home');
  await expect.poll(() => main.evaluate((m) => m.scrollTop)).toBe(0);
  expect(await main.getByText('question 0', { exact: true }).isVisible()).toBe(true);
  await o.page.getByRole('button', { name: 'To the latest' }).click();
  await expect.poll(() => main.evaluate((m) => m.scrollHeight - m.scrollTop - m.clientHeight)).toBeLessThan(2);
  // And one more.
  await o.page.locator('#composer').fill('question 500');
  await o.page.locator('#composer').press('Enter');
  await o.page.getByText('question 500 is answered.').waitFor();
  await o.page.locator('main h2').nth(1001).waitFor({ state: 'attached' });
  expect(o.errors).toEqual([]);
});

/** Makes a conversation of as many turns, by the API. */
async function conversation(turns: number): Promise<string> {
  const api = `${server.base}/api/v1/conversations`;
  const post = async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const res = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!res.ok) throw new Error(`${path}: ${res.status} ${await res.text()}`);
    return (await res.json()) as { id: string };
  };
  const { id } = await post('', {});
  const stream = await fetch(`${api}/${id}/events`);
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  let ended = 0;
  for (let n = 0; n < turns; n++) {
    await post(`/${id}/messages`, { message: `question ${n}`, env_id: 'ss-dev' });
    while (ended <= n) {
      const { value = '', done } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error('the stream ended');
      seen += value;
      const frames = seen.split('\n\n');
      seen = frames.pop() ?? '';
      ended += frames.filter((f) => f.includes('event: run_finished')).length;
    }
  }
  await reader?.cancel();
  return id;
}
