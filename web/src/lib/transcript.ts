import { Malformed, json, list, num, obj, opt, str, type Reader } from './check';
import type { Conversation } from './conversation';
import { restore } from './reduce';
import { readEvent, type WireEvent } from './wire';

type Logged = Exclude<WireEvent, { type: 'reset' }>;

const usage = obj({ input_tokens: num, output_tokens: num, cost: opt(num) });

const item = obj({
  kind: str,
  seq: num,
  run_id: opt(str),
  at: opt(str),
  state: opt(str),
  message_id: opt(str),
  role: opt(str),
  text: opt(str),
  replaces: opt(str),
  start: opt(json),
  retry: opt(json),
  end: opt(json),
  outcome: opt(json),
  usage: opt(usage),
});

const snapshot = obj({ id: str, title: str, items: list(item), active_run: opt(str), last_event_id: num });

/** A conversation as it is read after a reload. */
export interface Snapshot {
  id: string;
  title: string;
  conversation: Conversation;
}

/**
 * Reads the answer of GET /conversations/{id}. Its items keep the events that they were reduced from, so they are
 * applied by the same function as the stream: what is seen after a reload is what was seen live.
 */
export const readSnapshot: Reader<Snapshot> = (v, where) => {
  const s = snapshot(v, where);
  const events = s.items.flatMap((i, n) => eventsOf(i, `items[${n}]`));
  const conversation = restore(events, s.last_event_id);
  return { id: s.id, title: s.title, conversation: { ...conversation, activeRun: s.active_run || null } };
};

function eventsOf(i: ReturnType<typeof item>, where: string): Logged[] {
  const common = { seq: i.seq, run_id: i.run_id, at: i.at };
  if (i.kind === 'message') {
    if (i.message_id === undefined) throw new Malformed(where, 'a message_id');
    const message_id = i.message_id;
    const text = i.text ?? '';
    return i.state === 'partial'
      ? [{ type: 'text_delta', ...common, message_id, offset: 0, text }]
      : [
          {
            type: 'message',
            ...common,
            message_id,
            role: i.role === 'user' ? 'user' : 'assistant',
            text,
            replaces: i.replaces,
          },
        ];
  }
  const events = [i.start, i.retry, i.end, i.outcome]
    .filter((e) => e !== undefined)
    .map((e) => readEvent(e))
    .filter((e): e is Logged => e !== null && e.type !== 'reset');
  // The sum stands in for the events of the steps, in their place: after the run has begun.
  return i.usage ? [...events, { type: 'usage', ...common, ...i.usage }] : events;
}
