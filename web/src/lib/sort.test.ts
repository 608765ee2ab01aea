import { expect, test } from 'vitest';
import type { Json } from './json';
import { press, sorted, type Order } from './sort';

const rows = (...v: Json[]) => v.map((value) => ({ cells: [{ value }] }));
const order = (descending: boolean): Order => ({ column: 0, descending });
const values = (v: Json[], o: Order | null) => sorted(rows(...v), o, 'en').map((r) => r.cells[0]?.value);

test.each([
  [
    [10, 9, -1],
    [-1, 9, 10],
  ],
  [
    ['9007199254740995', '9007199254740993', 5],
    [5, '9007199254740993', '9007199254740995'],
  ],
  [
    ['b', null, 'a'],
    ['a', 'b', null],
  ],
  [
    ['item 10', 'item 9'],
    ['item 9', 'item 10'],
  ],
  [
    [true, false],
    [false, true],
  ],
] as [Json[], Json[]][])('%j upwards', (v, want) => {
  expect(values(v, order(false))).toEqual(want);
});

test('downwards, with nothing still last', () => {
  expect(values([1, null, 3, 2], order(true))).toEqual([3, 2, 1, null]);
});

test('as it came, and the presses that lead there', () => {
  expect(values([2, 1], null)).toEqual([2, 1]);
  expect([
    press(null, 1),
    press({ column: 1, descending: false }, 1),
    press({ column: 1, descending: true }, 1),
  ]).toEqual([{ column: 1, descending: false }, { column: 1, descending: true }, null]);
  expect(press({ column: 0, descending: true }, 1)).toEqual({ column: 1, descending: false });
});
