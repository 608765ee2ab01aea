// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { HostTheme } from '../embed/protocol';
import { wear } from './wear';

const supports = (_property: string, value: string) => !/[;{}]|url|pink-ish/.test(value);
function worn(theme: HostTheme): Record<string, string> {
  const root = document.createElement('div');
  document.body.append(root);
  wear(theme, root, supports);
  const names = ['--font', '--link-light', '--link-dark'];
  return Object.fromEntries(names.map((n) => [n, root.style.getPropertyValue(n)]).filter(([, v]) => v !== ''));
}

test.each<[string, HostTheme, Record<string, string>]>([
  ['nothing', {}, {}],
  ['a font', { fontFamily: "'PT Sans', sans-serif" }, { '--font': "'PT Sans', sans-serif" }],
  ['a font that says more', { fontFamily: 'Inter;background:url(//evil)' }, {}],
  ['no text', { fontFamily: 3, link: {} } as unknown as HostTheme, {}],
  ["Superset's own link, too pale on white", { link: '#2893B3' }, { '--link-dark': '#2893B3' }],
  ['a dark link', { link: '#003366' }, { '--link-light': '#003366' }],
  // 4.54 and 4.48 to 1 on white
  ['the palest that can be read', { link: '#767676' }, { '--link-light': '#767676' }],
  ['one step paler', { link: '#777777' }, {}],
  ['a colour that is none', { link: 'pink-ish' }, {}],
  ['one that shines through', { link: 'rgba(0, 0, 0, 0.5)' }, {}],
])('%s', (_name, theme, want) => {
  expect(worn(theme)).toEqual(want);
});

test('what is not told any more is taken back', () => {
  const root = document.createElement('div');
  document.body.append(root);
  wear({ fontFamily: 'Arial', link: '#003366' }, root, supports);
  wear({ link: 'pink-ish' }, root, supports);
  expect(root.getAttribute('style') ?? '').toBe('');
  expect(root.childElementCount).toBe(0);
});
