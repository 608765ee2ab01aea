// @vitest-environment jsdom
import { screen } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { draw, fakeApp } from '../../tests/page';
import type { Lang } from '../lib/i18n/i18n.svelte';
import type { ConfirmPreview } from '../lib/wire';
import ConfirmFacts from './ConfirmFacts.svelte';

type Reference = ConfirmPreview['references'][number];
const stored = (more: Partial<Reference>): Reference => ({
  argument: '/rows',
  uri: 'artifact://art_1',
  tool: 'run_sql',
  size_bytes: 12_000,
  sha256: 'a'.repeat(64),
  ...more,
});
function told(lang: Lang, references: Reference[]): string[] {
  const preview = { diff: [], blast_radius: [], owners: [], notes: [], untrusted: [], references };
  draw(fakeApp(undefined, lang).app, ConfirmFacts, { preview });
  return screen.queryAllByTestId('reference').map((e) => e.textContent?.replace(/\s+/g, ' ').trim() ?? '');
}

test.each<[string, Partial<Reference>, string]>([
  ['titled', { title: '500 rows of sales' }, '“rows” is a stored result of run_sql, 12 KB. 500 rows of sales'],
  ['counted', { rows: 1 }, '“rows” is a stored result of run_sql, 12 KB. 1 row'],
  ['neither', {}, '“rows” is a stored result of run_sql, 12 KB.'],
  ['deep', { argument: '/patch/rows' }, '“patch/rows” is a stored result of run_sql, 12 KB.'],
  ['with hidden letters', { title: 'a\u202eb' }, '“rows” is a stored result of run_sql, 12 KB. a⟨U+202E⟩b'],
])('a stored result that goes with a call is told: %s', (_name, more, want) => {
  expect(told('en', [stored(more)])).toEqual([want]);
});

test('in Russian, and each of several', () => {
  expect(told('ru', [stored({ rows: 2 }), stored({ argument: '/more', rows: 5 })])).toEqual([
    '«rows» — сохранённый результат run_sql, 12 КБ. 2 строки',
    '«more» — сохранённый результат run_sql, 12 КБ. 5 строк',
  ]);
});
