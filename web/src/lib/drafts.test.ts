import { expect, test } from 'vitest';
import { Drafts } from './drafts';

function storage() {
  const kept = new Map<string, string>();
  return {
    getItem: (k: string) => kept.get(k) ?? null,
    setItem: (k: string, v: string) => void kept.set(k, v),
    removeItem: (k: string) => void kept.delete(k),
    key: (n: number) => [...kept.keys()][n] ?? null,
    get length() {
      return kept.size;
    },
  };
}

test('each conversation has its own text, also after a reload', () => {
  const s = storage();
  new Drafts(s).keep(null, 'new');
  new Drafts(s).keep('c1', 'one');
  const again = new Drafts(s);
  expect([again.of(null), again.of('c1'), again.of('c2')]).toEqual(['new', 'one', '']);
  again.keep('c1', '');
  expect(again.of('c1')).toBe('');
});

test('another user finds nothing, the same one everything', () => {
  const s = storage();
  const d = new Drafts(s);
  expect(d.belongTo('anna')).toBe(false);
  d.keep('c1', 'secret');
  d.keep(null, 'secret too');
  expect(new Drafts(s).belongTo('anna')).toBe(false);
  expect(new Drafts(s).of('c1')).toBe('secret');
  expect(new Drafts(s).belongTo('bert')).toBe(true);
  expect([d.of('c1'), d.of(null)]).toEqual(['', '']);
});

test('a browser that keeps nothing is no error', () => {
  const full = {
    ...storage(),
    length: 0,
    setItem: () => {
      throw new Error('full');
    },
  };
  for (const d of [new Drafts(null), new Drafts(full)]) {
    d.keep('c1', 'x');
    expect(d.of('c1')).toBe('');
    expect(d.belongTo('anna')).toBe(false);
  }
});
