import { empty, type Conversation } from './lib/conversation';
import { reduce } from './lib/reduce';
import type { EventOf, EventType, WireEvent } from './lib/wire';

// For development only: each event of the fixtures as a turn of its own, with what has to come before it.

type Of<T extends EventType> = Omit<EventOf<T>, 'seq' | 'run_id' | 'at'>;
type Part = { [T in EventType]: Of<T> }[EventType];

const of = (events: WireEvent[], type: EventType): WireEvent[] => events.filter((e) => e.type === type);

/** What an event needs before it, and what closes its run. */
function around(e: WireEvent, all: WireEvent[], id: string): { before: Part[]; after: Part[] } {
  const write = e.type === 'tool_outcome' || (e.type === 'tool_timeout' && e.is_write_tool);
  const risk = { tool: write ? 'write' : 'read', env: 'dev', permission: 'granted' };
  const tool = 'tool' in e ? e.tool : 'update_dashboard';
  const begun: Part = { type: 'tool_start', call_id: id, tool, args: { dashboard: 42 }, env_id: 'ss-dev', risk };
  const end: Part = { type: 'run_finished', outcome: 'answered' };
  const lost = of(all, 'tool_timeout').find((t) => t.type === 'tool_timeout' && t.is_write_tool);
  switch (e.type) {
    case 'tool_retry':
    case 'tool_start':
      return { before: e.type === 'tool_retry' ? [begun] : [], after: [] };
    case 'tool_result':
    case 'tool_error':
    case 'tool_timeout':
      return { before: [begun], after: [end] };
    case 'tool_outcome':
      return { before: lost ? [begun, { ...lost, call_id: id } as Part] : [begun], after: [end] };
    case 'confirm_required':
      return { before: [], after: [{ type: 'run_finished', outcome: 'awaiting_confirmation' }] };
    case 'confirm_resolved': {
      const card = of(all, 'confirm_required')[0];
      return { before: card ? [{ ...card, confirmation_id: id, call_id: `${id}_call` } as Part] : [], after: [end] };
    }
    case 'usage':
      return { before: [{ type: 'message', message_id: id, role: 'assistant', text: 'An answer.' }], after: [end] };
    case 'message':
    case 'permission_denied':
      return { before: [], after: [end] };
    default:
      return { before: [], after: [] };
  }
}

/** The events of the fixtures, each in a run of its own that a message with its name began. */
export function scenes(all: WireEvent[]): WireEvent[] {
  let seq = 0;
  return all
    .filter((e) => e.type !== 'reset')
    .flatMap((e, n) => {
      const run_id = `run_${n}`;
      const id = `${e.type}_${n}`;
      const { before, after } = around(e, all, id);
      const own = {
        ...e,
        ...('call_id' in e ? { call_id: e.type === 'confirm_required' ? `${id}_call` : id } : {}),
        ...('confirmation_id' in e ? { confirmation_id: id } : {}),
        ...('message_id' in e ? { message_id: e.type === 'run_started' ? `q_${n}` : id } : {}),
        ...(e.type === 'message' ? { replaces: undefined } : {}),
        ...(e.type === 'tool_start' ? { retry_of: undefined } : {}),
      } as WireEvent;
      const asked: Part[] = [
        { type: 'message', message_id: `q_${n}`, role: 'user', text: `${n + 1}. ${e.type}` },
        { type: 'run_started', cause: 'message', message_id: `q_${n}`, env_id: 'ss-dev', tools: [] },
      ];
      const at = new Date().toISOString();
      return [...asked, ...before, own, ...after].map((p) => ({ at, ...p, run_id, seq: ++seq }) as WireEvent);
    });
}

export const everything = (all: WireEvent[]): Conversation => scenes(all).reduce(reduce, empty);
