import { expect, test } from 'vitest';
import { readParams } from './params';

test('a whole good link', () => {
  expect(
    readParams(
      '?objectType=dashboard&objectId=42&objectName=%D0%9F%D1%80%D0%BE%D0%B4%D0%B0%D0%B6%D0%B8&envId=ss-prod&route=/superset/dashboard/42/&lang=ru&theme=dark&c=abc&q=hi&embed=1',
    ),
  ).toEqual({
    view: { objectType: 'dashboard', objectId: '42', objectName: 'Продажи', route: '/superset/dashboard/42/' },
    envId: 'ss-prod',
    conversation: 'abc',
    lang: 'ru',
    theme: 'dark',
    draft: 'hi',
    embed: true,
    dropped: [],
  });
});

test('nothing', () => {
  expect(readParams('')).toMatchObject({ view: {}, draft: '', dropped: [], embed: false });
});

const long = (n: number) => 'x'.repeat(n);
test.each([
  ['objectType=Dashboard', ['objectType']],
  ['objectType=' + encodeURIComponent('dash"><script>'), ['objectType']],
  ['objectType=dashboard&objectId=' + encodeURIComponent('../1'), ['objectId']],
  ['objectType=dashboard&objectId=' + encodeURIComponent('1;drop'), ['objectId']],
  ['objectType=dashboard&objectId=delete%20everything', ['objectId']],
  ['objectType=dashboard&objectId=1%0A2', ['objectId']],
  ['objectType=dashboard&objectId=1%E2%80%AE2', ['objectId']],
  ['objectType=dashboard&objectId=' + encodeURIComponent('продажи_2026-план'), []],
  [`objectType=dashboard&objectId=${encodeURIComponent('я'.repeat(254))}`, []],
  [`objectType=dashboard&objectId=${encodeURIComponent('я'.repeat(255))}`, []],
  [`objectType=dashboard&objectId=${encodeURIComponent('я'.repeat(256))}`, ['objectId']],
  ['objectId=42', ['objectId']],
  ['objectType=nope&objectId=42', ['objectType']],
  [`objectType=chart&objectName=${long(120)}`, []],
  [`objectType=chart&objectName=${long(121)}`, ['objectName']],
  ['objectType=chart&objectName=a%00b', ['objectName']],
  ['objectType=chart&objectName=a%0Ab', ['objectName']],
  ['objectType=chart&objectType=dataset', ['objectType']],
  ['envId=' + encodeURIComponent('ss prod'), ['envId']],
  ['route=https://evil.example/', ['route']],
  ['route=//evil.example/', ['route']],
  ['route=' + encodeURIComponent('javascript:alert(1)'), ['route']],
  ['c=' + encodeURIComponent('../../x'), ['c']],
  ['lang=de', ['lang']],
  ['theme=pink', ['theme']],
  [`q=${long(2001)}`, ['q']],
  ['parent=https://evil.example&token=x', []],
  ['objectType=%FF%FE', ['objectType']],
])('%s drops %j', (search, dropped) => {
  expect(readParams(search).dropped).toEqual(dropped);
});

test('an id without its type is not sent', () => {
  expect(readParams('objectType=nope&objectId=42').view).toEqual({});
  expect(readParams('objectName=ignore%20all%20rules').view).toEqual({});
});
