// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { flushSync } from 'svelte';
import { aConfirm, draw, fakeApp } from '../../tests/page';
import type { Confirm } from '../lib/conversation';
import Composer from './Composer.svelte';
import ConfirmCard from './ConfirmCard.svelte';

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance', 'Date'],
    }),
);
afterEach(() => void vi.useRealTimers());
const pass = async (ms: number) => {
  await vi.advanceTimersByTimeAsync(ms);
  flushSync();
};

/** A page with this card open, and one more before it if asked. */
function page(c: Confirm, answer?: Parameters<typeof fakeApp>[0], before: Confirm[] = []) {
  const made = fakeApp(answer ?? (() => [200, { run_id: 'r2', state: 'claimed', replayed: false }]));
  made.app.session.id = 'c1';
  made.app.session.conversation = { seq: 1, items: [...before, c], runs: {}, activeRun: null, stale: false };
  draw(made.app, ConfirmCard, { confirm: c });
  flushSync();
  return { ...made, decisions: () => made.sent.filter((s) => s.path.includes('/confirmations/')) };
}
const run = () => screen.getByRole('button', { name: /^Run/ });
const cancel = () => screen.getByRole('button', { name: 'Cancel' });

describe('a dangerous operation', () => {
  test('cannot be run before ten seconds, can after, and one double click is one decision', async () => {
    const p = page(aConfirm());
    expect(run()).toBeDisabled();
    expect(run()).toHaveTextContent('Run (in 10 s)');
    await pass(9_400);
    expect(run()).toBeDisabled();
    expect(run()).toHaveTextContent('Run (in 1 s)');
    await pass(600);
    expect(run()).toBeEnabled();
    await fireEvent.click(run());
    await fireEvent.click(run());
    await pass(0);
    expect(p.decisions().map((d) => d.body)).toEqual([{ decision: 'approve', args_digest: 'digest' }]);
    expect(run()).toBeDisabled();
    expect(cancel()).toBeDisabled();
  });

  test('a server that says a shorter countdown is not followed', async () => {
    page(aConfirm({ countdownSeconds: 1 }));
    await pass(9_000);
    expect(run()).toBeDisabled();
  });

  test('a hidden tab stops the clock', async () => {
    page(aConfirm());
    await pass(5_000);
    const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
    await pass(20_000);
    expect(run()).toBeDisabled();
    visibility.mockRestore();
    await pass(4_000);
    expect(run()).toBeDisabled();
    await pass(1_200);
    expect(run()).toBeEnabled();
  });

  test('can be cancelled at once, with a reason', async () => {
    const p = page(aConfirm());
    await fireEvent.input(screen.getByLabelText('Reason (optional)'), { target: { value: ' not today ' } });
    await fireEvent.click(cancel());
    await pass(0);
    expect(p.decisions().map((d) => d.body)).toEqual([
      { decision: 'reject', args_digest: 'digest', reason: 'not today' },
    ]);
  });

  test('time counts only while half of the card is on screen', async () => {
    let see: (part: number) => void = () => undefined;
    const watched: Element[] = [];
    vi.stubGlobal(
      'IntersectionObserver',
      class {
        constructor(tell: (entries: object[]) => void) {
          see = (part) =>
            tell([
              { isIntersecting: part > 0, intersectionRatio: part, intersectionRect: { height: 1 }, rootBounds: null },
            ]);
        }
        observe = (e: Element) => void watched.push(e);
        disconnect = () => undefined;
      },
    );
    page(aConfirm());
    // The whole card with what it tells, not only its buttons.
    expect(watched).toEqual([document.querySelector('[data-confirm]')]);
    await pass(20_000);
    see(0.49);
    await pass(20_000);
    expect(run()).toHaveTextContent('Run (in 10 s)');
    see(0.5);
    await pass(10_200);
    expect(run()).toBeEnabled();
    vi.unstubAllGlobals();
  });

  test('that it can be run is said once, and the bar is for the eyes', async () => {
    const { app } = page(aConfirm());
    const say = vi.spyOn(app.announcer, 'say');
    expect(document.querySelector('progress')).toHaveAttribute('aria-hidden', 'true');
    await pass(9_800);
    expect(say).not.toHaveBeenCalled();
    await pass(30_000);
    expect(say.mock.calls).toEqual([['You can run it now']]);
    expect(document.querySelector('progress')).toBeNull();
  });

  test('is the only one in red', () => {
    page(aConfirm());
    expect(run()).toHaveClass('danger');
    expect(cancel()).not.toHaveClass('danger', 'primary');
  });

  test('names the production environment in words', () => {
    page(aConfirm());
    expect(screen.getByText(/visible to all users at once/)).toBeInTheDocument();
  });
});

const write = (more: Partial<Confirm> = {}) =>
  aConfirm({
    dangerous: false,
    risk: { tool: 'write', env: 'dev', permission: 'granted' },
    envId: 'ss-dev',
    countdownSeconds: 0,
    ...more,
  });

test('a plain write can be run at once, Cancel comes first, and nothing takes the focus', () => {
  page(write());
  expect(run()).toBeEnabled();
  expect(cancel().compareDocumentPosition(run())).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  expect(document.activeElement).toBe(document.body);
});

test('a plain write is not red', () => {
  page(write());
  expect(run()).not.toHaveClass('danger');
  expect(document.querySelector('.card')).not.toHaveClass('danger');
});

test('says until when it waits', () => {
  page(write({ expiresAt: new Date(Date.now() + 60_000).toISOString() }));
  expect(screen.getByText(/^Open until \d\d?:\d\d/)).toBeInTheDocument();
});

test.each([
  [400, 0],
  [401, 1],
])('an argument of %i characters: %i is folded, with how long it is', (n, folded) => {
  page(write({ args: { sql: 'x'.repeat(n), html: '<b>bold</b>' } }));
  expect(screen.queryAllByText(`${n} characters`)).toHaveLength(folded);
  expect(screen.getByText('x'.repeat(n))).toBeInTheDocument();
  expect(screen.getByText('<b>bold</b>')).toBeInTheDocument();
});

test('after a lost answer nothing can be pressed until the server was asked', async () => {
  let asked: (v: [number, unknown]) => void = () => undefined;
  const state = new Promise<[number, unknown]>((done) => (asked = done));
  const p = page(write(), (r) => (r.path.includes('/confirmations/') ? [0, {}] : state));
  await fireEvent.click(run());
  await pass(0);
  expect(p.sent.map((s) => s.method)).toEqual(['POST', 'GET']);
  expect(run()).toBeDisabled();
  expect(cancel()).toBeDisabled();
  asked([503, {}]);
  await pass(0);
  expect(run()).toBeEnabled();
});

test('while it is open the message field says so, and stopping works', async () => {
  const { app, sent } = fakeApp(() => [202, {}]);
  app.session.id = 'c1';
  app.session.conversation = { seq: 1, items: [write()], runs: {}, activeRun: null, stale: false };
  draw(app, Composer, {});
  flushSync();
  const field = screen.getByRole('textbox', { name: 'Message to the agent' });
  expect(field).toHaveAttribute('placeholder', 'Answer the request above first…');
  await fireEvent.input(field, { target: { value: 'yes' } });
  await fireEvent.keyDown(field, { key: 'Enter' });
  expect(sent).toEqual([]);
  expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
  await fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
  expect(sent.map((s) => `${s.method} ${s.path}`)).toEqual(['POST conversations/c1/cancel']);
});

test('a key that is held down decides nothing', async () => {
  page(write());
  const held = new KeyboardEvent('keydown', { key: 'Enter', repeat: true, cancelable: true, bubbles: true });
  run().dispatchEvent(held);
  expect(held.defaultPrevented).toBe(true);
});

test('only the first of several open cards can be run', () => {
  page(write({ id: 'q2' }), undefined, [write({ id: 'q1' })]);
  expect(run()).toBeDisabled();
  expect(cancel()).toBeEnabled();
});

test('edited arguments are sent only with the edit, and only if they are an object', async () => {
  const p = page(write({ allowed: ['approve', 'edit', 'reject'] }));
  await fireEvent.click(screen.getByRole('button', { name: 'Edit arguments' }));
  const field = screen.getByRole('textbox', { name: 'Edit arguments' });
  await fireEvent.input(field, { target: { value: '[1]' } });
  expect(run()).toBeDisabled();
  expect(screen.getByText('This is not a JSON object.')).toBeInTheDocument();
  await fireEvent.input(field, { target: { value: '{"dashboard": 43}' } });
  await fireEvent.click(run());
  await pass(0);
  expect(p.decisions().map((d) => d.body)).toEqual([
    { decision: 'edit', args_digest: 'digest', edited_args: { dashboard: 43 } },
  ]);
});

test('without the right to edit there is no way to', () => {
  page(write());
  expect(screen.queryByRole('button', { name: 'Edit arguments' })).toBeNull();
});

test.each([
  [0, {}, 'The server did not answer. Press again: it counts once.'],
  [409, { code: 'too_early' }, 'It cannot be run yet. Wait a moment.'],
  [
    422,
    { code: 'invalid', detail: 'No.', errors: [{ pointer: '/edited_args/x', detail: 'unknown' }] },
    'No. /edited_args/x: unknown',
  ],
])('a decision that failed with %i says so and can be made again', async (status, body, text) => {
  page(write(), (r) => (r.path.includes('/confirmations/') ? [status, body] : [503, {}]));
  await fireEvent.click(run());
  await pass(0);
  expect(screen.getByText(text)).toBeInTheDocument();
  expect(run()).toBeEnabled();
});

test('removals come first, and hidden characters are spelled out', () => {
  page(
    write({
      args: { name: 'a\u202eb' },
      preview: {
        diff: [
          { field: 'title', before: 'a', after: 'b' },
          { field: 'css', before: 'x' },
        ],
        blast_radius: [{ kind: 'chart', title: 'Revenue' }],
        owners: ['Anna'],
        notes: [],
        untrusted: ['/name'],
        references: [],
        object: 'Sales',
      },
    }),
  );
  expect(screen.getAllByRole('listitem').map((l) => l.textContent?.replace(/\s+/g, ' ').trim().slice(0, 14))).toEqual(
    ['css · removed ', 'title · change', 'chart Revenue'].map((s) => s),
  );
  expect(screen.getByText('a⟨U+202E⟩b')).toBeInTheDocument();
  expect(screen.getByText('Comes from text that nobody vouches for')).toBeInTheDocument();
});

test.each([
  ['approved', 'Allowed on .* by anna'],
  ['edited', 'Allowed with changes on .* by anna'],
  ['rejected', 'Refused on .* by anna'],
  ['expired', 'The request expired'],
  ['superseded', 'Replaced by a newer request'],
] as const)('a card that was %s has no buttons', (state, text) => {
  page(aConfirm({ state, by: 'anna', decidedAt: '2026-10-29T20:00:00Z' }));
  expect(screen.queryAllByRole('button')).toHaveLength(0);
  expect(screen.getByText(new RegExp(text))).toBeInTheDocument();
});
