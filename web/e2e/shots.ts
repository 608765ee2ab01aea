import { mkdirSync } from 'node:fs';
import { axe, open, overflows, quit } from './browser';
import { shootGallery } from './gallery';
import { Replay } from './replay';
import { answer, confirm, finished, markdown, states, usage } from './scenes';

// Pictures of the page for a person to look at: `npm run build`, then `npm run shots -- DIR`, or
// `npm run shots -- DIR gallery` for every state of every card (with `ru-light-360` behind it: in that look only).
const dir = process.argv[2] ?? 'shots';
mkdirSync(dir, { recursive: true });
if (process.argv[3] === 'gallery') {
  await shootGallery(dir, process.argv[4]);
  process.exit();
}
const server = new Replay(process.env.DIST ?? new URL('../dist', import.meta.url).pathname);
const base = await server.listen();
server.script = (text, id) => {
  if (text.includes('states')) return [...states];
  if (text.includes('answer')) return [...answer(`a${id}`, markdown), usage, finished()];
  if (text.includes('ask')) return [confirm(`q1${id}`, false), finished('awaiting_confirmation')];
  if (text.includes('danger')) return [confirm(`q2${id}`, true), finished('awaiting_confirmation')];
  return [{ type: 'run_error', code: 'model_unreachable', message: 'The model does not answer.', retryable: true }];
};
const params = 'objectType=dashboard&objectId=42&objectName=Sales%20overview';
for (const [name, lang, scheme, width, height] of [
  ['en-light', 'en', 'light', 1280, 860],
  ['ru-dark', 'ru', 'dark', 1280, 860],
  ['ru-360', 'ru', 'light', 360, 740],
  ['en-360-dark', 'en', 'dark', 360, 740],
] as const) {
  const o = await open(`${base}/agent?${params}&envId=ss-prod&lang=${lang}&bad=1&route=//evil`, {
    scheme,
    width,
    height,
    touch: width < 500,
  });
  const box = o.page.locator('#composer');
  const shot = (what: string) => o.page.screenshot({ path: `${dir}/${name}-${what}.png` });
  await o.page.getByRole('heading', { level: 2 }).first().waitFor({ state: 'attached' });
  await o.page.waitForTimeout(300);
  await shot('1-empty');
  console.log(name, 'empty axe', JSON.stringify(await axe(o.page), null, 1), 'overflow', await overflows(o.page));
  const say = async (text: string, wait: string) => {
    await box.fill(text);
    await box.press('Enter');
    await o.page.locator(wait).last().waitFor();
    await o.page.waitForTimeout(400);
  };
  await say('give me an answer', '.usage');
  await shot('2-answer');
  await say('and fail', '[data-outcome=error]');
  await say('ask me', '[data-confirm]');
  await shot('3-ask');
  await o.page.evaluate(() => document.querySelector('main')?.scrollTo(0, 1e6));
  console.log(name, 'ask axe', JSON.stringify(await axe(o.page), null, 1), 'overflow', await overflows(o.page));
  await o.page.locator('nav .new').evaluate((b) => (b as HTMLElement).click());
  await say('danger', '[data-confirm]');
  await shot('4-danger');
  console.log(name, 'danger axe', JSON.stringify(await axe(o.page), null, 1), 'overflow', await overflows(o.page));
  await o.page.locator('nav .new').evaluate((b) => (b as HTMLElement).click());
  await say('all states', '[data-call=s6]');
  await shot('6-states-end');
  await o.page.evaluate(() => document.querySelector('main')?.scrollTo(0, 0));
  await o.page.waitForTimeout(100);
  await shot('5-states');
  console.log(name, 'states axe', JSON.stringify(await axe(o.page), null, 1), 'overflow', await overflows(o.page));
  console.log(name, 'errors', o.errors, 'foreign', o.foreign);
  await o.close();
}
await quit();
await server.close();
