import { expect, test } from 'vitest';
import { BlockStream } from './blocks';

const pieces = [
  'para text\n\n',
  'Title\n===\n\n',
  '# H\n',
  '- a\n- b\n',
  '- a\n\n- b\n\n',
  '1. x\n2. y\n\n',
  '```sql\nselect 1\n\nselect 2\n```\n',
  '```\nplain\n```\n\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n\n',
  '> q\n> r\n\n',
  '---\n\n',
  '* * *\n\n',
  'line1\nline2\n\n',
  '<div>\nhi\n</div>\n\n',
  '    indented\n\n',
  '- [ ] task\n- [x] done\n\n',
  'a [l](http://x/) *i* **b**\n\n',
  '* star\n\n  cont\n\n',
  '~~~py\nx\n~~~\n\n',
  '1) p\n\n',
  'see [ref]\n\n',
  '[ref]: https://example.com\n\n',
  '😀 emoji\n\n',
  '1',
  '\n',
  '-',
  '|',
  'tail',
];
const shape = (s: BlockStream, text: string) => JSON.stringify(s.update(text, true).map((b) => [b.token, b.open]));

test('2,000 random documents in random chunks give the same as in one piece', () => {
  let seed = 7;
  const random = (n: number) => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed % n;
  };
  for (let i = 0; i < 2000; i++) {
    let doc = '';
    for (let k = 2 + random(6); k > 0; k--) doc += pieces[random(pieces.length)] ?? '';
    const stream = new BlockStream();
    for (let at = 0; at < doc.length;) {
      at += 1 + random(5);
      stream.update(doc.slice(0, at), false);
    }
    expect(shape(stream, doc), JSON.stringify(doc)).toBe(shape(new BlockStream(), doc));
  }
}, 60_000);

test('settled blocks keep their identity, so no work is done for them', () => {
  const s = new BlockStream();
  const first = s.update('para one\n\npara two\n\npara thr', false)[0];
  expect(s.update('para one\n\npara two\n\npara three and more', false)[0]).toBe(first);
  expect(s.update('para one\n\npara two\n\npara three and more', true)[0]).toBe(first);
});

test('a text that is replaced starts anew', () => {
  const s = new BlockStream();
  s.update('first answer\n\nwith more', false);
  expect(s.update('second', false).map((b) => b.raw)).toEqual(['second']);
});

test('a link that is defined after its use', () => {
  const s = new BlockStream();
  s.update('see [ref] here\n\nmore\n\n', false);
  const blocks = s.update('see [ref] here\n\nmore\n\n[ref]: https://example.com\n', true);
  expect(JSON.stringify(blocks[0]?.token)).toContain('https://example.com');
});
