import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Frame } from 'playwright-core';
import { Agentd } from './agentd';
import { open, quit } from './browser';
import { Host, peek, type Peeked } from './host';

// auth.mode jwt: the server makes no sessions, so the page around the frame hands it the token itself.

const secret = 'a secret of the tests, 32 bytes or more';
const dir = mkdtempSync(join(tmpdir(), 'agentd-bearer-'));
const closing: (() => Promise<void>)[] = [];
let server: Agentd;

beforeAll(async () => {
  writeFileSync(join(dir, 'secret'), secret);
  server = await Agentd.demo({ flags: ['--auth.mode', 'jwt', '--auth.jwt.secret_file', join(dir, 'secret')] });
});
afterAll(async () => {
  await quit();
  await server.stop();
  rmSync(dir, { recursive: true });
});
afterEach(async () => {
  for (const c of closing.splice(0).reverse()) await c();
});

function token(sub: string): string {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const part = (o: object) => Buffer.from(JSON.stringify(o)).toString('base64url');
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub, roles: ['Admin'], exp })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
const lookAgain = (f: Frame) => f.evaluate(() => void dispatchEvent(new Event('focus')));

test('the token comes over the port, goes with each request, is kept nowhere, and ends with the log-out', async () => {
  const host = new Host(server.base, { handover: '/token' });
  await host.listen();
  closing.push(() => host.close());
  host.handover = [[200, { token: token('anna') }]];
  const o = await open('about:blank');
  closing.push(o.close);
  await o.page.addInitScript(peek);
  await o.page.goto(`${host.base}/superset/welcome/`);
  const sent: string[] = [];
  o.page.on('request', (r) => {
    if (r.url().includes('/agentd/api/')) sent.push(`${r.headers().authorization?.slice(0, 9)} ${r.url()}`);
  });
  await o.page.waitForFunction(() => 'agentd' in window);
  await o.page.evaluate(() => (window as unknown as Peeked).agentd.cmd('open'));
  const find = () => o.page.frames().find((f) => f.url().includes('embed=1'));
  await expect.poll(() => find() !== undefined).toBe(true);
  const frame = find();
  if (!frame) throw new Error('no frame');
  await frame.locator('#composer').waitFor();
  await expect.poll(() => sent.filter((s) => s.startsWith('Bearer ey')).length).toBeGreaterThanOrEqual(3);
  await frame.locator('#composer').fill('Find dashboards about sales');
  await frame.locator('#composer').press('Enter');
  await frame.locator('[data-state=done]').first().waitFor(); // the stream has it too
  expect(sent.filter((s) => s.endsWith('/events') && !s.startsWith('Bearer ey'))).toEqual([]);
  expect(sent.filter((s) => /ey[A-Za-z]/.test(s.slice(9)))).toEqual([]); // never in an address
  const kept = await frame.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
  expect(kept).not.toContain('ey');
  expect(await o.context.cookies()).toEqual([]);

  host.handover = Array.from({ length: 20 }, () => [401, {}] as [number, unknown]);
  await expect
    .poll(
      async () => {
        await lookAgain(frame);
        return frame.locator('.banner', { hasText: 'Сеанс истёк' }).count();
      },
      { timeout: 20_000 },
    )
    .toBe(1);
});
