import { expect, test } from 'vitest';
import { chartOf } from './chart';

const columns = [{ name: 'id' }, { name: 'region' }, { name: 'revenue' }];

test('bars of the first quantity by the first name; an id is no quantity', () => {
  expect(
    chartOf(columns, [
      [1, 'N', 5],
      [2, 'S', -2],
    ]),
  ).toEqual({
    label: 'region',
    value: 'revenue',
    bars: [
      { key: 0, label: 'N', value: 5 },
      { key: 1, label: 'S', value: -2 },
    ],
    line: false,
  });
});

test('moments in order are a line', () => {
  const months = [{ name: 'month' }, { name: 'n' }];
  expect(
    chartOf(months, [
      ['2026-01', 1],
      ['2026-02', 2],
    ])?.line,
  ).toBe(true);
  expect(
    chartOf(months, [
      ['2026-02', 1],
      ['2026-01', 2],
    ])?.line,
  ).toBe(false);
});

test.each([
  ['one row', [[1, 'N', 5]]],
  [
    'a gap',
    [
      [1, 'N', 5],
      [2, 'S', null],
    ],
  ],
  [
    'no name',
    [
      [1, 2, 5],
      [2, 3, 5],
    ],
  ],
  [
    'exact integers are texts',
    [
      [1, 'N', '9007199254740993'],
      [2, 'S', '1'],
    ],
  ],
  ['too many', Array.from({ length: 25 }, (_, i) => [i, 'x', i])],
])('no picture of %s', (_name, rows) => {
  expect(chartOf(columns, rows)).toBeNull();
});
