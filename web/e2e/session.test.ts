import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Agentd } from './agentd';
import { open, quit, type Opened } from './browser';
import { Front } from './front';
import { gate, Model } from './model';

// Sessions that end, with the built server behind one proxy with a mock Superset whose cookie says who is asking.

const model = new Model();
let superset: Agentd;
let front: Front;
let server: Agentd;
const opened: Opened[] = [];

beforeAll(async () => {
  await model.listen();
  superset = await Agentd.mock();
  front = await new Front().route('/', superset.page).listen();
  server = await Agentd.serve(
    [
      'base_path: /agentd/',
      'auth: {mode: superset, superset: {environment: ss-dev, cache: 1ms}}',
      'environments:',
      `  - {id: ss-dev, title: Dev, class: dev, base_url: '${superset.page}', public_url: '${front.base}', auth: {mode: forward_cookie}}`,
    ],
    model.url,
  );
  front.route('/agentd/', new URL(server.page).origin);
});
afterAll(async () => {
  await quit();
  await server.stop();
  await front.close();
  await superset.stop();
  await model.close();
});
afterEach(async () => {
  for (const o of opened.splice(0)) await o.close();
});

async function visit(query = 'lang=en'): Promise<Opened> {
  const o = await open(`${front.base}/agentd/agent?${query}`);
  opened.push(o);
  return o;
}
/** What Superset's form sends; its cookie goes to the browser. */
async function logIn(o: Opened, user: string): Promise<void> {
  const form = await (await o.context.request.get(`${front.base}/login/`)).text();
  const csrf_token = /csrf_token[^>]*value="([^"]+)"/.exec(form)?.[1] ?? '';
  const sent = { form: { username: user, password: user, csrf_token }, maxRedirects: 0 };
  const res = await o.context.request.post(`${front.base}/login/`, sent);
  expect(res.headers().location).not.toContain('/login/');
}
const logOut = (o: Opened) => o.context.request.get(`${front.base}/logout/`, { maxRedirects: 0 });
/** What a browser says when its window is looked at again. */
const lookAgain = (o: Opened) => o.page.evaluate(() => void dispatchEvent(new Event('focus')));
const composer = (o: Opened) => o.page.locator('#composer');
const expired = (o: Opened) => o.page.locator('.banner', { hasText: 'Your session has expired' });

test('who comes without a session is told where to sign in, and begins after it', async () => {
  const o = await visit('objectType=dashboard&objectId=1&lang=en&q=my%20question');
  await expired(o).waitFor();
  const tab = o.context.waitForEvent('page');
  await expired(o).getByRole('link', { name: 'Sign in' }).click();
  expect((await tab).url()).toBe(`${front.base}/login/`);
  await logIn(o, 'alpha');
  await lookAgain(o);
  await o.page.getByRole('combobox', { name: 'Environment' }).waitFor();
  expect(await expired(o).count()).toBe(0);
  expect(await composer(o).inputValue()).toBe('my question');
  model.answer = () => ['Here you are.'];
  await composer(o).press('Enter');
  await o.page.getByText('Here you are.').waitFor();
});

test('a session that ends while somebody writes: the text is kept, and it goes on after the next sign-in', async () => {
  const o = await visit();
  await logIn(o, 'alpha');
  await o.page.reload();
  await o.page.getByRole('combobox').first().waitFor();
  model.answer = () => ['The first answer.'];
  await composer(o).fill('first');
  await composer(o).press('Enter');
  await o.page.getByText('The first answer.').waitFor();
  await o.page.getByRole('button', { name: 'Send' }).waitFor();
  await logOut(o);
  await composer(o).fill('a long thought');
  await composer(o).press('Enter');
  await expired(o).waitFor();
  expect(await composer(o).inputValue()).toBe('a long thought');
  await o.page.getByText('The first answer.').waitFor(); // what was there stays
  await logIn(o, 'alpha');
  await lookAgain(o);
  await expect.poll(() => expired(o).count()).toBe(0);
  expect(await composer(o).inputValue()).toBe('a long thought');
  model.answer = () => ['The second answer.'];
  await composer(o).press('Enter');
  await o.page.getByText('The second answer.').waitFor();
  await o.page.getByRole('button', { name: 'Send' }).waitFor();
  for (const once of ['The first answer.', 'a long thought', 'The second answer.'])
    expect((await o.page.locator('main').innerText()).split(once).length - 1).toBe(1);
});

test('a session that ends in the middle of an answer: the rest is there after the next sign-in', async () => {
  const o = await visit();
  await logIn(o, 'alpha');
  await o.page.reload();
  await o.page.getByRole('combobox').first().waitFor();
  const half = gate();
  model.answer = () => ['The beginning ', half.opened, 'and the end.'];
  await composer(o).fill('go');
  await composer(o).press('Enter');
  await o.page.getByText('The beginning').waitFor();
  await logOut(o);
  front.cut();
  await expired(o).waitFor();
  half.open();
  await logIn(o, 'alpha');
  await lookAgain(o);
  await o.page.getByText('The beginning and the end.').waitFor();
  await o.page.getByRole('button', { name: 'Send' }).waitFor();
  expect(await expired(o).count()).toBe(0);
});

test('somebody else who signs in sees nothing of the first', async () => {
  const o = await visit();
  await logIn(o, 'alpha');
  await o.page.reload();
  await o.page.getByRole('combobox').first().waitFor();
  model.answer = () => ['For alpha only.'];
  await composer(o).fill('go');
  await composer(o).press('Enter');
  await o.page.getByText('For alpha only.').waitFor();
  await logOut(o);
  await logIn(o, 'gamma');
  await lookAgain(o);
  await o.page.locator('.banner', { hasText: 'Another user has signed in' }).waitFor();
  expect(await o.page.getByText('For alpha only.').count()).toBe(0);
  await o.page.getByRole('link', { name: 'Reload' }).click();
  await o.page.getByText('This conversation does not exist, or it is not yours.').waitFor();
});
