// @vitest-environment jsdom
import { screen } from '@testing-library/svelte';
import { describe, expect, test } from 'vitest';
import { draw, fakeApp } from '../../tests/page';
import type { Lang } from '../lib/i18n/i18n.svelte';
import type { Artifact, Preview } from '../lib/wire';
import ResultPreview from './ResultPreview.svelte';

const some = (more: Partial<Preview> = {}): Preview => ({
  columns: [{ name: 'id' }],
  rows: [[1]],
  items: [],
  bounded_by: [],
  ...more,
});
function facts(lang: Lang, preview: Preview, artifact?: Artifact): string {
  const { container } = draw(fakeApp(undefined, lang).app, ResultPreview, { preview, artifact, tool: 'run_sql' });
  return container.querySelector('.facts')?.textContent?.replace(/\s+/g, ' ').trim() ?? '';
}

describe('what became of the whole result', () => {
  const created = (coverage?: string): Artifact => ({ decision: 'CREATED', coverage, id: 'a1', size_bytes: 20_480 });
  test.each<[string, Artifact, string, string]>([
    ['all', created('COMPLETE'), 'The whole result is stored: 20.5 KB.', 'Результат сохранён целиком: 20,5 КБ.'],
    ['a part', created('PREFIX'), 'A part of the result is stored: 20.5 KB.', 'Сохранена часть результата: 20,5 КБ.'],
    [
      'nobody knows',
      created('UNKNOWN'),
      'Stored: 20.5 KB, perhaps not the whole result.',
      'Сохранено: 20,5 КБ, возможно, не весь результат.',
    ],
    [
      'nobody says',
      created(),
      'Stored: 20.5 KB, perhaps not the whole result.',
      'Сохранено: 20,5 КБ, возможно, не весь результат.',
    ],
    [
      'too large',
      { decision: 'DENIED' },
      'The whole result was not stored: it is too large, or there is no room left.',
      'Результат целиком не сохранён: он слишком велик или не осталось места.',
    ],
    [
      'a broken store',
      { decision: 'FAILED' },
      'The whole result was not stored: the store did not work.',
      'Результат целиком не сохранён: хранилище не сработало.',
    ],
    [
      'a stopped run',
      { decision: 'CANCELLED' },
      'The whole result was not stored: the answer was stopped.',
      'Результат целиком не сохранён: ответ остановлен.',
    ],
    [
      'switched off',
      { decision: 'SKIPPED' },
      'The whole result was not stored: storing is switched off.',
      'Результат целиком не сохранён: сохранение отключено.',
    ],
  ])('%s', (_name, artifact, en, ru) => {
    expect([facts('en', some(), artifact), facts('ru', some(), artifact)]).toEqual([en, ru]);
  });
});

test.each([
  [
    'source_limit',
    'the source gave no more: its own limit was reached',
    'больше источник не отдал: достигнут его предел',
  ],
  ['preview_limit', 'shortened to fit the page', 'сокращено, чтобы поместиться на странице'],
  ['batch_budget', 'shortened to fit the answer', 'сокращено, чтобы поместиться в ответ'],
  ['size_cap', 'the size limit was reached', 'достигнут предел размера'],
  ['time_cap', 'the time limit was reached', 'достигнут предел времени'],
  ['of_tomorrow', 'of_tomorrow', 'of_tomorrow'],
])('a result that is bounded by %s', (why, en, ru) => {
  const p = some({ bounded_by: [why], completeness: 'INCOMPLETE' });
  expect(facts('en', p)).toBe(`Incomplete ${en}`);
  expect(facts('ru', p)).toBe(`Неполный ${ru}`);
});

test.each<[string, Partial<Preview>, string, string]>([
  ['all rows', { returned: 21, completeness: 'COMPLETE' }, '21 rows', '21 строка'],
  ['some rows', { returned: 5, total: 21 }, 'Showing 5 of 21 rows', 'Показано 5 из 21 строки'],
  [
    'rows of nobody knows how many',
    { returned: 5, completeness: 'UNKNOWN' },
    'Showing 5 Perhaps incomplete',
    'Показано 5 Возможно, неполный',
  ],
  ['some items', { columns: [], rows: [], items: ['a'], returned: 1, total: 3 }, 'Showing 1 of 3', 'Показано 1 из 3'],
  ['nothing counted', {}, '', ''],
])('how much is shown: %s', (_name, more, en, ru) => {
  expect([facts('en', some(more)), facts('ru', some(more))]).toEqual([en, ru]);
});

test.each([
  ['a table', {}, 'NULL'],
  ['a list', { columns: [], rows: [], items: ['first item'] }, 'first item'],
])('what stands beside %s is shown too', (_name, more, own) => {
  const preview = some({ rows: [[null]], object: { warning: 'cached' }, ...more });
  draw(fakeApp().app, ResultPreview, { preview, tool: 'search' });
  expect(screen.getByText(own)).toBeInTheDocument();
  expect(screen.getByText(/"warning": "cached"/)).toBeInTheDocument();
});
