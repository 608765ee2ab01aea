import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Malformed } from './check';
import { parseJson, type Json } from './json';
import { eventTypes, readEvent, readFrame } from './wire';

const dir = join(import.meta.dirname, '../../../internal/httpapi/testdata/events');
const files = readdirSync(dir).filter((f) => f.endsWith('.json'));
const load = (file: string) => parseJson(readFileSync(join(dir, file), 'utf8')) as Record<string, Json>[];

/** The value without its nulls: absent and null mean the same on the wire. */
function present(v: Json): Json {
  if (Array.isArray(v)) return v; // the values of rows are kept, nulls too
  if (typeof v !== 'object' || v === null) return v;
  return Object.fromEntries(
    Object.entries(v)
      .filter(([, x]) => x !== null)
      .map(([k, x]) => [k, present(x)]),
  );
}

describe('the fixtures that the Go side writes', () => {
  test('cover every type that the page knows', () => {
    const covered = new Set(files.flatMap((f) => load(f).map((e) => e.type)));
    expect(eventTypes.filter((t) => t !== 'reset' && !covered.has(t))).toEqual([]);
  });

  test.each(files)('%s is read, and nothing in it is lost', (file) => {
    for (const fixture of load(file)) {
      expect(readEvent(fixture)).toMatchObject(present(fixture) as object);
    }
  });

  test.each(files)('%s: each field that is taken away or of another type is reported or was optional', (file) => {
    for (const fixture of load(file)) {
      for (const key of Object.keys(fixture)) {
        const wrong = { ...fixture, [key]: Symbol('wrong') };
        if (key === 'args' || key === 'edit_schema') continue; // these may be any value
        expect(() => readEvent(wrong), `${file}: ${key}`).toThrow(Malformed);
      }
    }
  });
});

test('a type that the page does not know is ignored', () => {
  expect(readEvent({ type: 'tool_progress', seq: 3 })).toBeNull();
  expect(readEvent({ type: 'constructor', seq: 3 })).toBeNull();
});

test('reset has no place in the log', () => {
  expect(readEvent({ type: 'reset' })).toEqual({ type: 'reset', seq: 0 });
});

test.each(['', '{', '[]', '"x"', 'null', '{"type":3}', '{"type":"message"}'])('malformed: %s', (data) => {
  expect(() => readFrame(data)).toThrow(Malformed);
});

test('a malformed event says where', () => {
  expect(() => readFrame('{"type":"text_delta","seq":1,"message_id":"m","offset":"0","text":""}')).toThrow(
    'text_delta.offset: expected a number',
  );
});
