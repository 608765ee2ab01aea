import { expect, test } from 'vitest';
import { parseJson, showJson, writeJson } from './json';

test.each([
  ['9007199254740993', '9007199254740993'],
  ['{"id": -9223372036854775808}', '{\n  "id": -9223372036854775808\n}'],
  ['["1234567890123456789", 1234567890123456789]', '[\n  "1234567890123456789",\n  1234567890123456789\n]'],
  ['"a \\" 1234567890123456789"', '"a \\" 1234567890123456789"'],
  ['[9007199254740991, 0.5, 1e3]', '[\n  9007199254740991,\n  0.5,\n  1000\n]'],
  ['1234567890123456.5', '1234567890123456.5'],
  ['{"a":{},"b":[],"c":null}', '{\n  "a": {},\n  "b": [],\n  "c": null\n}'],
])('%s is kept exact', (text, want) => {
  expect(writeJson(parseJson(text))).toBe(want);
});

test('a text that looks like the mark stays a text', () => {
  const text = JSON.stringify(['\u0001int:x', 1]);
  expect(parseJson(`[${text}, 12345678901234567890]`)).toEqual([['\u0001int:x', 1], 12345678901234567890n]);
});

test('show', () => {
  expect([undefined, null, 'a b', 3, [1]].map((v) => showJson(v))).toEqual(['', 'null', 'a b', '3', '[\n  1\n]']);
});
