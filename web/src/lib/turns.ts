import type { Conversation, Item, Run } from './conversation';

/** What one message of a person led to. */
export interface Turn {
  items: Item[];
  /** The run that the message started; it knows what the message was about. */
  run?: Run;
  /** All of it was edited away. */
  folded: boolean;
  live: boolean;
}

/**
 * Splits a conversation at the messages of its person. A turn that is as it was in `before` is the same object, so
 * that nothing is done for it: in a long conversation only the last one changes while an answer comes.
 */
export function turnsOf(c: Conversation, before: Turn[] = []): Turn[] {
  const byMessage = new Map(Object.values(c.runs).map((r) => [r.messageId, r]));
  const turns: Turn[] = [];
  for (const item of c.items) {
    const begins = item.kind === 'message' && item.role === 'user';
    let turn = turns.at(-1);
    if (!turn || begins || turn.folded !== item.folded) {
      turn = { items: [], folded: item.folded, live: false, run: undefined };
      turns.push(turn);
    }
    if (begins) turn.run = byMessage.get(item.id);
    turn.items.push(item);
    if (item.runId === c.activeRun || (item.kind === 'confirm' && item.state === 'open')) turn.live = true;
  }
  return turns.map((t, n) => {
    const old = before[n];
    return old && same(old, t) ? old : t;
  });
}

const same = (a: Turn, b: Turn): boolean =>
  a.folded === b.folded &&
  a.live === b.live &&
  a.run === b.run &&
  a.items.length === b.items.length &&
  a.items.every((item, n) => item === b.items[n]);
