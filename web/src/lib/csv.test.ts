import { expect, test } from 'vitest';
import { toCsv } from './csv';

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+7 900', "'+7 900"],
  ['-x', "'-x"],
  ['@cmd', "'@cmd"],
  ['=cmd|"/c calc"!A1', '"\'=cmd|""/c calc""!A1"'],
  ['-9007199254740993', '-9007199254740993'],
  [-5, '-5'],
  [9007199254740993n, '9007199254740993'],
  [null, ''],
  ['', ''],
  [true, 'true'],
  ['привет', 'привет'],
])('%s is %s', (v, want) => {
  expect(toCsv(['c'], [[v]])).toBe(`c\r\n${want}\r\n`);
});

test('several columns', () => {
  expect(
    toCsv(
      ['a', 'b,c'],
      [
        [1, 'x'],
        [2, 'y'],
      ],
    ),
  ).toBe('a,"b,c"\r\n1,x\r\n2,y\r\n');
});
