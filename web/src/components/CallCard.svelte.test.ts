// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import { aCall, draw, fakeApp } from '../../tests/page';
import type { Call } from '../lib/conversation';
import type { Lang } from '../lib/i18n/i18n.svelte';
import CallCard from './CallCard.svelte';

const show = (more: Partial<Call>, lang: Lang = 'en') => {
  const onretry = vi.fn();
  draw(fakeApp(undefined, lang).app, CallCard, { call: aCall(more), onretry });
  return onretry;
};
const failed: Partial<Call> = {
  state: 'failed',
  retryable: true,
  retryExhausted: true,
  message: 'Superset answered 503.',
};

test('a read that failed twice can be tried again', async () => {
  const onretry = show(failed);
  await fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(onretry.mock.calls).toEqual([['t1']]);
});

test.each([
  ['a write', { risk: { tool: 'write', env: 'dev', permission: 'granted' } }],
  ['a dangerous call', { risk: { tool: 'dangerous', env: 'dev', permission: 'granted' } }],
  ['free SQL', { risk: { tool: 'query', env: 'dev', permission: 'granted' } }],
  ['a call of unknown risk', { risk: undefined }],
  ['a read that was tried again', { retriedBy: 't2' }],
  ['an error for good', { retryable: false }],
] as [string, Partial<Call>][])('%s has no such button, whatever the event says', (_name, more) => {
  show({ ...failed, ...more });
  expect(screen.queryAllByRole('button')).toHaveLength(0);
});

test.each([
  ['unknown', 'Operation status unknown — check Superset', 'Статус операции неизвестен — проверьте в Superset'],
  ['denied', 'Not allowed', 'Недостаточно прав'],
] as const)('%s: no button at all, in both languages', (state, en, ru) => {
  const more: Partial<Call> = {
    state,
    retryable: true,
    retryExhausted: true,
    why: 'timeout',
    timeoutMs: 60_000,
    verify: 'https://bi.example.com/x',
  };
  show(more);
  expect(screen.getByText(en)).toBeInTheDocument();
  show(more, 'ru');
  expect(screen.getByText(ru)).toBeInTheDocument();
  expect(screen.queryAllByRole('button')).toHaveLength(0);
});

test('an unknown write leads to Superset, never to a script', () => {
  show({ state: 'unknown', why: 'timeout', timeoutMs: 60_000, verify: 'https://bi.example.com/x' });
  expect(screen.getByRole('link', { name: /Open in Superset/ })).toHaveAttribute('href', 'https://bi.example.com/x');
  show({ state: 'unknown', why: 'gateway', verify: 'javascript:alert(1)' });
  expect(screen.getAllByRole('link')).toHaveLength(1);
});

test.each([
  ['applied', 'The change was made'],
  ['not_applied', 'The change was not made'],
  ['still_unknown', 'Operation status unknown — check Superset'],
] as const)('outcome %s is told with its evidence and without a button', (outcome, text) => {
  show({ state: 'unknown', outcome, evidence: 'The title is Sales.' });
  expect(screen.getByText(text)).toBeInTheDocument();
  expect(screen.getByText('The title is Sales.')).toBeInTheDocument();
  expect(screen.queryAllByRole('button')).toHaveLength(0);
});

test('a result shows how much of it is shown, exact numbers, and text as text', () => {
  show({
    state: 'done',
    summary: '151 dashboards',
    durationMs: 1800,
    preview: {
      columns: [{ name: 'id' }, { name: 'big', exact: true }],
      rows: [
        [1, '9007199254740993'],
        [null, '<img src=x onerror=alert(1)>'],
      ],
      items: [],
      bounded_by: ['source_limit'],
      completeness: 'INCOMPLETE',
      returned: 2,
      total: 151,
    },
  });
  expect(screen.getAllByText('Showing 2 of 151 rows')).toHaveLength(2);
  expect(screen.getByText('Incomplete')).toBeInTheDocument();
  expect(screen.getByText('9007199254740993')).toBeInTheDocument();
  expect(screen.getByText('<img src=x onerror=alert(1)>')).toBeInTheDocument();
  expect(screen.getByText('1.8 s')).toBeInTheDocument();
  expect(document.querySelector('img')).toBeNull();
});

test('a retry says which try it is', () => {
  show({ state: 'retrying', attempt: 2, maxAttempts: 2 }, 'ru');
  expect(screen.getByText('Superset не отвечает. Повторяю попытку (2 из 2)…')).toBeInTheDocument();
});
