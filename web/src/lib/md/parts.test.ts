import { expect, test } from 'vitest';
import { BlockStream } from './blocks';
import { partsOf, type Part } from './parts';

const text = Array.from({ length: 40 }, (_, n) => `Paragraph ${n}.`).join('\n\n');

test('parts hold every block once, in order', () => {
  for (const n of [0, 1, 15, 16, 17, 32, 33]) {
    const blocks = new BlockStream().update(text, true).slice(0, n);
    const parts = partsOf(blocks);
    expect(parts.flatMap((p) => p.blocks)).toEqual(blocks);
    expect(parts.map((p) => p.key)).toEqual(parts.map((_, key) => key));
    expect(parts).toHaveLength(Math.ceil(n / 16));
  }
});

test('while an answer grows only its last part is another one', () => {
  const stream = new BlockStream();
  let before: Part[] = [];
  for (let at = 24; at <= text.length; at += 24) {
    const parts = partsOf(stream.update(text.slice(0, at), false), before);
    // A block that ends its part may still grow while one in the next begins.
    const same = parts.filter((p, n) => p === before[n]).length;
    expect(same).toBeGreaterThanOrEqual(before.length - 2);
    before = parts;
  }
  expect(before.length).toBeGreaterThan(2);
});
