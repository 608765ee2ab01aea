import { mkdirSync } from 'node:fs';
import { createServer } from 'vite';
import { axe, open, overflows, quit } from './browser';

const names = ['1', 'empty', 'prod', 'offline', 'reconnecting', 'signed-out', 'other-user', 'notice'];
const dialogs = ['env', 'keys', 'settings', 'inbox', 'result', 'result-gone'];

/** Takes a picture of everything that the gallery has, in both themes and languages, wide and narrow; `only` names one look. */
export async function shootGallery(dir: string, only = ''): Promise<void> {
  mkdirSync(dir, { recursive: true });
  const server = await createServer({
    server: { port: 0, host: '127.0.0.1', hmr: false, watch: null },
    logLevel: 'error',
  });
  await server.listen();
  const base = server.resolvedUrls?.local[0] ?? '';
  for (const width of [1280, 360])
    for (const lang of ['en', 'ru'])
      for (const scheme of ['light', 'dark'] as const) {
        const look = { scheme, width, height: 860, touch: width < 500 };
        const at = `${lang}-${scheme}-${width}`;
        if (!at.includes(only)) continue;
        const o = await open('about:blank', look);
        for (const name of [...names, ...dialogs]) {
          const query = `objectType=dashboard&objectId=42&objectName=Sales%20overview&lang=${lang}&gallery=${name}`;
          await o.page.goto(`${base}agent?${query}`);
          await o.page.locator(dialogs.includes(name) ? 'dialog[open]' : '#composer').waitFor();
          await o.page.evaluate(() => document.fonts.ready);
          const found = [...(await axe(o.page)), ...(await overflows(o.page))];
          if (found.length > 0) console.log(at, name, JSON.stringify(found, null, 1));
          if (name === '1') await strips(o, dir, at);
          else await o.page.screenshot({ path: `${dir}/${at}-${name}.png` });
        }
        await o.page.context().close();
      }
  await server.close();
  await quit();
}

/** The conversation from top to bottom, a screen at a time. */
async function strips(o: Awaited<ReturnType<typeof open>>, dir: string, at: string): Promise<void> {
  const main = o.page.locator('main');
  // What is not on screen has no height yet.
  await o.page.addStyleTag({ content: '* { content-visibility: visible !important }' });
  const { whole, part } = await main.evaluate((m) => ({ whole: m.scrollHeight, part: m.clientHeight }));
  for (let y = 0, n = 1; y < whole; y += part, n++) {
    await main.evaluate((m, top) => m.scrollTo({ top, behavior: 'instant' }), y);
    await o.page.waitForTimeout(50);
    await main.screenshot({ path: `${dir}/${at}-strip-${String(n).padStart(2, '0')}.png` });
  }
}
