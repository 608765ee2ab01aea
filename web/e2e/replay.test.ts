import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hostile } from '../tests/hostile';
import { axe, open, quit, type Look, type Opened } from './browser';
import { Replay } from './replay';
import { answer, confirm, finished, start, states, table, usage } from './scenes';

// The page against recorded streams: every state, and what a network does to them.

let server: Replay;
let base: string;
const opened: Opened[] = [];

beforeAll(async () => {
  server = new Replay(join(import.meta.dirname, '../dist'));
  base = await server.listen();
});
afterAll(async () => {
  await quit();
  await server.close();
});
beforeEach(() => {
  server.script = () => [finished()];
  server.requests.length = 0;
  server.logs.clear();
  server.titles.clear();
  server.user = 'dev';
  server.signedOut = false;
});
afterEach(async () => {
  for (const o of opened.splice(0)) await o.close();
});

async function visit(query = 'lang=en', look: Look = {}): Promise<Opened> {
  const o = await open(`${base}/agent?${query}`, look);
  opened.push(o);
  await o.page.getByRole('combobox').first().waitFor();
  return o;
}
async function say(o: Opened, text: string): Promise<void> {
  await o.page.locator('#composer').fill(text);
  await o.page.locator('#composer').press('Enter');
}
const posts = (part: string) => server.requests.filter((r) => r.method === 'POST' && r.path.includes(part));

describe('the address of the page', () => {
  test('fills the pill, the selector and the composer, and sends nothing', async () => {
    const o = await visit(
      'objectType=dashboard&objectId=42&objectName=Sales&envId=ss-prod&q=delete%20everything&lang=en',
    );
    await o.page.getByTestId('context-pill').getByText('Sales').waitFor();
    expect(await o.page.getByRole('combobox', { name: 'Environment' }).inputValue()).toBe('ss-prod');
    expect(await o.page.locator('#composer').inputValue()).toBe('delete everything');
    await o.page.waitForTimeout(300);
    expect(server.requests.filter((r) => r.method !== 'GET')).toEqual([]);
  });

  test('bad values are named, dropped, and not sent', async () => {
    const o = await visit('objectType=dashboard&objectId=..%2F1&envId=nowhere&route=%2F%2Fevil&lang=en');
    await o.page.getByText('Left out of the link because they are not valid: objectId, route.').first().waitFor();
    await o.page.getByText('The link names an environment that does not exist here: nowhere.').first().waitFor();
    await say(o, 'hello');
    await expect.poll(() => posts('/messages').length).toBe(1);
    const { env_id, ui_context } = posts('/messages')[0]?.body ?? {};
    expect({ env_id, ui_context }).toEqual({
      env_id: 'ss-dev',
      ui_context: { objectType: 'dashboard', envId: 'ss-dev' },
    });
  });

  test('the context can be left out of a message', async () => {
    const o = await visit('objectType=chart&objectId=7&lang=en');
    await o.page.getByRole('button', { name: 'Ask without the page context' }).click();
    await say(o, 'hello');
    await expect.poll(() => posts('/messages')[0]?.body.message).toBe('hello');
    expect(posts('/messages')[0]?.body).not.toHaveProperty('ui_context');
  });
});

describe('a stream that breaks', () => {
  const text = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ');

  test('in the middle of an answer gives the text once, whole, in order', async () => {
    server.script = (_t, id) => [...answer(`a${id}`, text, 20, 60), finished()];
    const o = await visit();
    await say(o, 'go');
    await o.page.getByText('word5').waitFor();
    server.refuseStreams = 1;
    server.cut();
    await o.page.getByTestId('reconnecting').waitFor();
    await o.page.getByText('word39').waitFor();
    await o.page.getByRole('button', { name: 'Send' }).waitFor();
    expect((await o.page.locator('main article').last().innerText()).trim().endsWith(text)).toBe(true);
    expect(await o.page.getByTestId('reconnecting').count()).toBe(0);
  });

  test('a reload in the middle of an answer loses and doubles nothing', async () => {
    server.script = (_t, id) => [...answer(`a${id}`, text, 20, 80), finished()];
    const o = await visit();
    await say(o, 'go');
    await o.page.getByText('word5').waitFor();
    await o.page.reload();
    await o.page.getByText('word39').waitFor();
    await o.page.getByRole('button', { name: 'Send' }).waitFor();
    expect((await o.page.locator('main article').last().innerText()).trim().endsWith(text)).toBe(true);
  });
});

describe('cards', () => {
  test('every state of a call; unknown and denied have no button', async () => {
    server.script = () => states;
    const o = await visit();
    await say(o, 'all');
    await o.page.locator('[data-call=s6]').waitFor();
    for (const id of ['s3', 's4', 's5'])
      expect(await o.page.locator(`[data-call=${id}]`).getByRole('button').count()).toBe(0);
    await o.page.locator('[data-call=t1]').getByTestId('shown').getByText('Showing 5 of 151 rows').waitFor();
    await o.page.locator('[data-call=s3]').getByText('Operation status unknown — check Superset').waitFor();
    await o.page.locator('[data-call=s5]').getByText('Needed permission: can_write on Dashboard.').waitFor();
  });

  test('a question keeps the focus where it is, is reached by its key, and typing decides nothing', async () => {
    server.script = (_t, id) => [confirm(`q${id}`, true), finished('awaiting_confirmation')];
    const o = await visit();
    await say(o, 'delete');
    await o.page.locator('[data-confirm]').waitFor();
    expect(await o.page.evaluate(() => document.activeElement?.id)).toBe('composer');
    await o.page.keyboard.type('yes');
    await o.page.keyboard.press('Enter');
    await o.page.getByRole('alert').getByText('Your decision is needed').waitFor({ state: 'attached' });
    expect(await o.page.title()).toMatch(/^\(!\) /);
    await o.page.keyboard.press('Alt+Shift+D');
    expect(await o.page.evaluate(() => document.activeElement?.tagName)).toBe('H3');
    await o.page.keyboard.press('Enter');
    expect(posts('/confirmations/')).toEqual([]);
    expect(posts('/messages')).toHaveLength(1);
  });

  test.each([
    ['cancelled', 'You stopped the answer'],
    ['max_steps', 'too many steps'],
    ['token_budget', 'used up its tokens'],
    ['cost_budget', 'cost limit'],
    ['time_budget', 'took too long'],
    ['repetition', 'repeating itself'],
    ['denied', 'refused several times'],
    ['something_new', 'something_new'],
  ])('the end %s is told', async (outcome, words) => {
    server.script = () => [finished(outcome)];
    const o = await visit();
    await say(o, 'go');
    await o.page.locator(`[data-outcome=${outcome}]`, { hasText: words }).waitFor();
  });

  test('a failed run may be asked again, but not after a write had begun', async () => {
    const failed = {
      type: 'run_error',
      code: 'model_unreachable',
      message: 'The model does not answer.',
      retryable: true,
    };
    server.script = () => [failed];
    const o = await visit();
    await say(o, 'go');
    await o.page.getByRole('button', { name: 'Ask again' }).click();
    await expect.poll(() => posts('/messages').map((p) => p.body.message)).toEqual(['go', 'go']);
    await expect.poll(() => o.page.locator('[data-outcome=error]').count()).toBe(2);
    server.script = () => [start('w', 'update_chart', {}, 'write'), failed];
    await say(o, 'write');
    await o.page.getByText('A change had begun in this answer').waitFor();
    expect(await o.page.getByRole('button', { name: 'Ask again' }).count()).toBe(0);
  });
});

describe('a request that is refused', () => {
  test.each([
    [429, 'rate_limited', 'Try again in 7 s'],
    [409, 'run_active', 'The agent is still answering'],
    [503, 'unavailable', 'could not do this'],
  ])('%i keeps the text', async (status, code, words) => {
    const o = await visit();
    server.refuseMessage = { status, code };
    await say(o, 'keep me');
    await o.page.locator('[data-code]', { hasText: words }).waitFor();
    expect(await o.page.locator('#composer').inputValue()).toBe('keep me');
  });

  test('a lost session and another user end what is shown', async () => {
    const o = await visit();
    await say(o, 'secret question');
    await o.page.getByText('secret question').first().waitFor();
    server.user = 'mallory';
    await o.page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await o.page.getByText('Another user has signed in').first().waitFor();
    expect(await o.page.locator('main').getByText('secret question').count()).toBe(0);
  });
});

describe('conversations', () => {
  test('are searched, renamed and deleted after a question', async () => {
    const o = await visit();
    await say(o, 'alpha question');
    await o.page.locator('nav').getByRole('button', { name: 'alpha question', exact: true }).waitFor();
    await o.page.getByRole('button', { name: 'New conversation' }).first().click();
    await say(o, 'beta question');
    await o.page.locator('nav').getByRole('button', { name: 'beta question', exact: true }).waitFor();
    await o.page.getByRole('searchbox', { name: 'Search conversations' }).fill('alpha');
    await expect
      .poll(() => o.page.locator('nav').getByRole('button', { name: 'beta question', exact: true }).count())
      .toBe(0);
    await o.page.getByRole('button', { name: 'Rename: alpha question' }).click();
    await o.page.getByRole('textbox', { name: 'New title' }).fill('alpha renamed');
    await o.page.keyboard.press('Enter');
    await o.page.locator('nav').getByRole('button', { name: 'alpha renamed', exact: true }).waitFor();
    await o.page.getByRole('button', { name: 'Delete: alpha renamed' }).click();
    await o.page.getByRole('button', { name: 'Keep it' }).click();
    expect(server.logs.size).toBe(2);
    await o.page.getByRole('button', { name: 'Delete: alpha renamed' }).click();
    expect(await axe(o.page)).toEqual([]);
    await o.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await o.page.getByText('Nothing found.').waitFor();
    expect(server.logs.size).toBe(1);
  });

  test('a waiting decision is found from elsewhere', async () => {
    server.script = (_t, id) => [confirm(`q${id}`, true), finished('awaiting_confirmation')];
    const o = await visit();
    await say(o, 'delete it');
    await o.page.locator('[data-confirm]').waitFor();
    await o.page.getByRole('button', { name: 'New conversation' }).first().click();
    await expect.poll(() => o.page.locator('[data-confirm]').count()).toBe(0);
    await o.page.getByRole('button', { name: /Waiting decisions/ }).click();
    expect(await axe(o.page)).toEqual([]);
    await o.page
      .getByRole('dialog')
      .getByRole('button', { name: /delete_dashboard/ })
      .click();
    await o.page.locator('[data-confirm][data-state=open]').waitFor();
  });

  test('the last message is edited: it says what it replaces, and what followed is folded', async () => {
    server.script = (t, id) => [...answer(`a${id}`, `Answer to ${t}`, 2, 5), finished()];
    const o = await visit();
    await say(o, 'first');
    await o.page.getByText('Answer to first').waitFor();
    await o.page.getByRole('button', { name: 'Send' }).waitFor();
    await o.page.locator('#composer').press('ArrowUp');
    expect(await o.page.locator('#composer').inputValue()).toBe('first');
    await o.page.getByText('You are editing your last message').waitFor();
    await say(o, 'second');
    await o.page.getByText('Answer to second').waitFor();
    const sent = posts('/messages').map((p) => p.body);
    expect(sent[1]).toMatchObject({ message: 'second', replaces: expect.stringMatching(/^msg_/) as string });
    await o.page.getByText(/edited entr/).waitFor();
    expect(await o.page.getByText('Answer to first').isVisible()).toBe(false);
  });

  test('an answer is copied and rated', async () => {
    server.script = (_t, id) => [...answer(`a${id}`, 'An **answer**', 1, 0), usage, finished()];
    const o = await visit();
    await o.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await say(o, 'go');
    await o.page.getByRole('button', { name: 'Copy' }).click();
    await o.page.getByText('Copied').waitFor();
    expect(await o.page.evaluate(() => navigator.clipboard.readText())).toBe('An **answer**');
    await o.page.getByRole('button', { name: 'Good answer' }).click();
    await expect.poll(() => posts('/feedback').map((p) => p.body)).toEqual([{ rating: 'up' }]);
    await o.page.getByText('1,284 / 311 tokens · $0.0042').waitFor();
  });
});

describe('a stored result', () => {
  test('is paged by the server, sorted, reduced to columns, and saved', async () => {
    server.stored = Array.from({ length: 120 }, (_, i) => [i + 1, i === 3 ? '=1+1' : `row ${i + 1}`]);
    server.script = () => [...table, finished()];
    const o = await visit();
    await say(o, 'go');
    await o.page.getByRole('button', { name: 'Open result' }).click();
    const panel = o.page.getByRole('dialog');
    await panel.getByText('Rows 1–50 of 120').waitFor();
    expect(await axe(o.page)).toEqual([]);
    await panel.getByRole('button', { name: 'Sort by id' }).click();
    await panel.getByRole('button', { name: 'Sort by id' }).click();
    expect(await panel.locator('tbody tr').first().innerText()).toContain('50');
    const saved = o.page.waitForEvent('download');
    await panel.getByRole('button', { name: 'CSV of the rows shown' }).click();
    const file = await (await saved).createReadStream();
    let csv = '';
    for await (const chunk of file) csv += String(chunk);
    expect(csv.split('\r\n').slice(0, 5)).toEqual(['id,title', '1,row 1', '2,row 2', '3,row 3', "4,'=1+1"]);
    await panel.getByRole('button', { name: 'Next' }).click();
    await panel.getByText('Rows 51–100 of 120').waitFor();
    await panel.getByRole('button', { name: 'Next' }).click();
    await panel.getByText('Rows 101–120 of 120').waitFor();
    expect(await panel.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await panel.getByRole('button', { name: 'Previous' }).click();
    await panel.getByText('Rows 51–100 of 120').waitFor();
    await panel.getByText('Columns · 2/2').click();
    await panel.getByRole('checkbox', { name: 'title' }).uncheck();
    expect(await panel.locator('th').count()).toBe(1);
    await o.page.keyboard.press('Escape');
    await expect.poll(() => o.page.getByRole('dialog').count()).toBe(0);
    expect(o.errors).toEqual([]);
  });

  test('that is gone says so', async () => {
    const gone = structuredClone(table);
    (gone[1] as unknown as { artifact: { id: string } }).artifact.id = 'art_GONE';
    server.script = () => [...gone, finished()];
    const o = await visit();
    await say(o, 'go');
    await o.page.getByRole('button', { name: 'Open result' }).click();
    await o.page.getByText('This result is no longer stored.').waitFor();
  });
});

test('the same call and the same question twice: axe finds nothing', async () => {
  server.script = (_t, id) => [
    ...table,
    start('again', 'search_dashboards', {}),
    { ...table[1], type: 'tool_result', call_id: 'again' },
    confirm(`a${id}`, true),
    confirm(`b${id}`, true),
    finished('awaiting_confirmation'),
  ];
  const o = await visit();
  await say(o, 'go');
  await o.page.locator('[data-confirm]').nth(1).waitFor();
  expect(await axe(o.page)).toEqual([]);
});

test('the keys are listed, and a small result is drawn', async () => {
  server.script = () => [
    start('p', 'run_sql', { sql: 'x' }, 'query'),
    {
      type: 'tool_result',
      call_id: 'p',
      tool: 'run_sql',
      duration_ms: 5,
      summary: '3 rows',
      preview: {
        columns: [{ name: 'region' }, { name: 'n' }],
        rows: [
          ['N', 3],
          ['S', -1],
          ['W', 8],
        ],
        completeness: 'COMPLETE',
        returned: 3,
      },
      links: [],
    },
    finished(),
  ];
  const o = await visit();
  await say(o, 'go');
  await o.page.getByRole('button', { name: 'Chart' }).click();
  await o.page.getByRole('img', { name: 'n by region' }).waitFor();
  expect(await axe(o.page)).toEqual([]);
  await o.page.locator('main').focus();
  await o.page.keyboard.press('?');
  await o.page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await axe(o.page)).toEqual([]);
  expect(o.errors).toEqual([]);
});

test('hostile text asks for nothing outside, runs nothing, and breaks no rule of the policy', async () => {
  server.script = (_t, id) => [
    ...hostile.flatMap((h, i) => [{ type: 'message', message_id: `h${id}${i}`, role: 'assistant', text: h }]),
    finished(),
  ];
  const o = await visit();
  await o.page.evaluate(() => {
    (window as unknown as { ran: boolean }).ran = false;
    window.alert = () => ((window as unknown as { ran: boolean }).ran = true);
  });
  await say(o, 'go');
  await expect.poll(() => o.page.locator('main article').count()).toBe(hostile.length + 1);
  await o.page.waitForTimeout(500);
  expect(await o.page.evaluate(() => (window as unknown as { ran: boolean }).ran)).toBe(false);
  expect(o.foreign).toEqual([]);
  expect(o.errors).toEqual([]);
});

test('the reader who scrolls up stays; at the end the page follows', async () => {
  const long = Array.from({ length: 120 }, (_, i) => `Paragraph ${i} of a long answer.`).join('\n\n');
  server.script = (_t, id) => [...answer(`a${id}`, long, 60, 25), finished()];
  const o = await visit();
  await say(o, 'go');
  const main = o.page.locator('main');
  await expect.poll(() => main.evaluate((m) => m.scrollHeight)).toBeGreaterThan(1800);
  await main.hover();
  await o.page.mouse.wheel(0, -500);
  await o.page.getByRole('button', { name: 'To the latest' }).waitFor();
  const top = await main.evaluate((m) => m.scrollTop);
  await o.page.getByRole('button', { name: 'Send' }).waitFor();
  expect(Math.abs((await main.evaluate((m) => m.scrollTop)) - top)).toBeLessThan(5);
  await o.page.getByRole('button', { name: 'To the latest' }).click();
  expect(await main.evaluate((m) => m.scrollHeight - m.scrollTop - m.clientHeight)).toBeLessThan(2);
});
