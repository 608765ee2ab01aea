import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseJson } from './lib/json';
import { eventTypes, readEvent } from './lib/wire';
import { everything, scenes } from './scenes';

const dir = join(import.meta.dirname, '../../internal/httpapi/testdata/events');
const fixtures = readdirSync(dir)
  .filter((f) => f.endsWith('.json'))
  .flatMap((f) => parseJson(readFileSync(join(dir, f), 'utf8')) as unknown[])
  .map((v) => readEvent(v))
  .filter((e) => e !== null);

test('the gallery has a scene for every event type of the API', () => {
  const shown = new Set(scenes(fixtures).map((e) => e.type));
  expect(eventTypes.filter((t) => !shown.has(t))).toEqual(['reset']);
});

test('the gallery has every state of a call and of a card', () => {
  const { items } = everything(fixtures);
  const calls = new Set(items.flatMap((i) => (i.kind === 'call' ? [i.state] : [])));
  expect([...calls].toSorted()).toEqual(['denied', 'done', 'failed', 'retrying', 'running', 'unknown']);
  const outcomes = new Set(items.flatMap((i) => (i.kind === 'call' && i.outcome ? [i.outcome] : [])));
  expect(outcomes.size).toBeGreaterThan(0);
  const cards = new Set(items.flatMap((i) => (i.kind === 'confirm' ? [i.state] : [])));
  expect(cards).toContain('open');
  expect(cards.size).toBeGreaterThan(1);
  expect(items.some((i) => i.kind === 'message' && i.live)).toBe(true);
});
