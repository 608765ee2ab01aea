import { expect, test } from 'vitest';
import type { Json } from './json';
import { nameIn } from './named';

const dashboard = { id: 42, uuid: '7db03fbd-c4fe', slug: 'продажи', title: 'New name' };
const of = (object: Json, objectId = '42', objectType = 'dashboard') =>
  nameIn({ columns: [], rows: [], items: [], bounded_by: [], object }, { objectType, objectId });

test.each([
  ['42', 'New name'],
  ['7db03fbd-c4fe', 'New name'],
  ['продажи', 'New name'],
  ['43', undefined],
])('the object %s is called %s', (id, name) => {
  expect(of({ changes: [], dashboard }, id)).toBe(name);
});

test('what is about something else, or no object, names nothing', () => {
  expect(of({ chart: dashboard })).toBeUndefined();
  expect(of({ dashboard: 'x' })).toBeUndefined();
  expect(of([dashboard])).toBeUndefined();
  expect(of(null)).toBeUndefined();
  expect(of({ dashboard: { ...dashboard, title: 7 } })).toBeUndefined();
  expect(of({ chart: { id: 42, name: 'Revenue' } }, '42', 'chart')).toBe('Revenue');
  expect(nameIn(undefined, { objectType: 'dashboard', objectId: '42' })).toBeUndefined();
});
