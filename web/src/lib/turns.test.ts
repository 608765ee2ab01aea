import { expect, test } from 'vitest';
import { empty, type Conversation, type Message } from './conversation';
import { turnsOf } from './turns';

const message = (id: string, role: 'user' | 'assistant', more: Partial<Message> = {}): Message => ({
  kind: 'message',
  id,
  runId: `r-${id.at(-1)}`,
  role,
  text: id,
  points: 2,
  live: false,
  at: '',
  folded: false,
  ...more,
});
const two: Conversation = {
  ...empty,
  items: [message('u1', 'user'), message('a1', 'assistant'), message('u2', 'user'), message('a2', 'assistant')],
};

test('each message of the person begins a turn', () => {
  expect(turnsOf(two).map((t) => t.items.map((i) => i.id))).toEqual([
    ['u1', 'a1'],
    ['u2', 'a2'],
  ]);
});

test('what was edited away is apart', () => {
  const c = { ...two, items: [...two.items.map((i) => ({ ...i, folded: true })), message('u3', 'user')] };
  expect(turnsOf(c).map((t) => t.folded)).toEqual([true, true, false]);
});

test('only the turn that changed is another object', () => {
  const before = turnsOf(two);
  const after = turnsOf(
    { ...two, items: [...two.items.slice(0, 3), message('a2', 'assistant', { text: 'more' })] },
    before,
  );
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect(turnsOf(two, before)[1]).toBe(before[1]);
});
