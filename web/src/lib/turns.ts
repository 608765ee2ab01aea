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

/** Splits a conversation at the messages of its person. */
export function turnsOf(c: Conversation): Turn[] {
  const turns: Turn[] = [];
  for (const item of c.items) {
    const begins = item.kind === 'message' && item.role === 'user';
    let turn = turns.at(-1);
    if (!turn || begins || turn.folded !== item.folded) {
      turn = { items: [], folded: item.folded, live: false, run: undefined };
      turns.push(turn);
    }
    if (begins) turn.run = Object.values(c.runs).find((r) => r.messageId === item.id);
    turn.items.push(item);
    if (item.runId === c.activeRun || (item.kind === 'confirm' && item.state === 'open')) turn.live = true;
  }
  return turns;
}
