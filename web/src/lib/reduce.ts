import {
  empty,
  keyOf,
  type Call,
  type Confirm,
  type Conversation,
  type Item,
  type Message,
  type Run,
} from './conversation';
import type { EventOf, WireEvent } from './wire';

/**
 * Applies one event. Pure: the conversation that is given stays as it is. Idempotent: an event that was applied
 * changes nothing when it comes again, so a snapshot and the stream after it may overlap.
 */
export function reduce(c: Conversation, e: WireEvent): Conversation {
  if (e.type === 'reset') return { ...c, stale: true };
  if (e.seq <= c.seq) return c;
  return { ...apply(c, e), seq: e.seq };
}

/** What the events show when they are all that is left of the log up to `last`. */
export function restore(events: Exclude<WireEvent, { type: 'reset' }>[], last: number): Conversation {
  return { ...events.toSorted((a, b) => a.seq - b.seq).reduce(apply, empty), seq: last };
}

function apply(c: Conversation, e: Exclude<WireEvent, { type: 'reset' }>): Conversation {
  switch (e.type) {
    case 'run_started':
      return started(c, e);
    case 'text_delta':
      return delta(c, e);
    case 'message':
      return message(c, e);
    case 'tool_start':
      return toolStart(c, e);
    case 'tool_retry':
      return call(c, e, { state: 'retrying', attempt: e.attempt, maxAttempts: e.max_attempts });
    case 'tool_result':
      return call(c, e, {
        state: 'done',
        durationMs: e.duration_ms,
        summary: e.summary,
        preview: e.preview,
        artifact: e.artifact,
        links: e.links,
      });
    case 'tool_error':
      return call(c, e, {
        state: 'failed',
        why: e.class,
        message: e.message,
        retryable: e.retryable,
        retryExhausted: e.retry_exhausted,
      });
    case 'tool_timeout':
      // Of a write nobody knows whether it was done; whatever else the event says, it is not offered again.
      return call(c, e, {
        state: e.is_write_tool || e.outcome === 'unknown' ? 'unknown' : 'failed',
        why: e.cause,
        timeoutMs: e.timeout_ms,
        verify: e.verify,
        retryable: e.retryable && !e.is_write_tool && e.outcome === 'none',
      });
    case 'tool_outcome':
      return call(c, e, { state: 'unknown', outcome: e.outcome, evidence: e.evidence, retryable: false });
    case 'permission_denied':
      return call(c, e, {
        state: 'denied',
        why: e.reason,
        requiredPermission: e.required_permission,
        retryable: false,
        ...(e.env_id ? { envId: e.env_id } : {}),
      });
    case 'confirm_required':
      return put(c, confirm(c, e));
    case 'confirm_resolved':
      return resolved(c, e);
    case 'usage':
      return withRun(c, e.run_id, (r) => ({
        ...r,
        inputTokens: r.inputTokens + e.input_tokens,
        outputTokens: r.outputTokens + e.output_tokens,
        cost: e.cost === undefined ? r.cost : (r.cost ?? 0) + e.cost,
      }));
    case 'run_finished':
      return ended(c, e, e.outcome);
    case 'run_error':
      return ended(c, e, 'error', { code: e.code, message: e.message, retryable: e.retryable });
  }
}

function started(c: Conversation, e: EventOf<'run_started'>): Conversation {
  const id = e.run_id ?? '';
  const run: Run = {
    id,
    messageId: e.message_id ?? '',
    envId: e.env_id ?? '',
    view: e.ui_context,
    startedAt: e.at ?? '',
    ended: false,
    wrote: false,
    inputTokens: 0,
    outputTokens: 0,
  };
  return { ...c, runs: { ...c.runs, [id]: run }, activeRun: id };
}

function delta(c: Conversation, e: EventOf<'text_delta'>): Conversation {
  const old = find(c, 'message', e.message_id) as Message | undefined;
  // After the final text only a step that was overtaken still speaks.
  if (old && !old.live) return c;
  const kept = !old ? '' : e.offset >= old.points ? old.text : [...old.text].slice(0, e.offset).join('');
  const points = Math.min(old?.points ?? 0, e.offset) + count(e.text);
  return put(c, {
    kind: 'message',
    id: e.message_id,
    runId: e.run_id ?? '',
    role: 'assistant',
    text: kept + e.text,
    points,
    live: true,
    at: old?.at ?? e.at ?? '',
    folded: false,
  });
}

function message(c: Conversation, e: EventOf<'message'>): Conversation {
  const folded = e.replaces ? fold(c, e.replaces, e.run_id) : c;
  return put(folded, {
    kind: 'message',
    id: e.message_id,
    runId: e.run_id ?? '',
    role: e.role,
    text: e.text,
    points: count(e.text),
    live: false,
    at: e.at ?? '',
    folded: false,
  });
}

/** Folds the edited message and everything after it, but not what the new run has begun. */
function fold(c: Conversation, id: string, runId: string | undefined): Conversation {
  const from = c.items.findIndex((i) => i.kind === 'message' && i.id === id);
  if (from < 0) return c;
  return {
    ...c,
    items: c.items.map((i, n) => (n < from || i.folded || i.runId === runId ? i : { ...i, folded: true })),
  };
}

function toolStart(c: Conversation, e: EventOf<'tool_start'>): Conversation {
  const writes = e.risk.tool === 'write' || e.risk.tool === 'dangerous';
  let next = writes ? withRun(c, e.run_id, (r) => ({ ...r, wrote: true })) : c;
  const origin = e.retry_of ? (find(c, 'call', e.retry_of) as Call | undefined) : undefined;
  if (origin) next = put(next, { ...origin, retriedBy: e.call_id });
  return call(next, e, { state: 'running', args: e.args, envId: e.env_id ?? '', risk: e.risk, retryOf: e.retry_of });
}

type Called = { call_id: string; tool?: string; run_id?: string; at?: string };

/** Changes the card of a call, or makes one for a call that ends without having begun. */
function call(c: Conversation, e: Called, change: Partial<Call>): Conversation {
  const old = find(c, 'call', e.call_id) as Call | undefined;
  const asked = c.items.find((i): i is Confirm => i.kind === 'confirm' && i.callId === e.call_id);
  const fresh: Call = {
    kind: 'call',
    id: e.call_id,
    runId: e.run_id ?? '',
    tool: e.tool ?? asked?.tool ?? '',
    args: asked?.args ?? null,
    envId: asked?.envId ?? '',
    state: 'running',
    at: e.at ?? '',
    folded: false,
    links: [],
    retryable: false,
    retryExhausted: false,
  };
  // What was found by reading back is not overtaken by a late answer.
  const known = old?.outcome !== undefined && change.outcome === undefined ? { state: old.state } : {};
  return put(c, { ...(old ?? fresh), ...change, ...known });
}

function confirm(c: Conversation, e: EventOf<'confirm_required'>): Confirm {
  const old = find(c, 'confirm', e.confirmation_id) as Confirm | undefined;
  return {
    kind: 'confirm',
    id: e.confirmation_id,
    runId: e.run_id ?? '',
    callId: e.call_id,
    tool: e.tool,
    args: e.args,
    argsDigest: e.args_digest,
    envId: e.env_id ?? '',
    risk: e.risk,
    dangerous: e.dangerous,
    countdownSeconds: e.countdown_seconds,
    allowed: e.allowed_decisions,
    editSchema: e.edit_schema,
    preview: e.preview,
    expiresAt: e.expires_at,
    state: old?.state ?? 'open',
    at: e.at ?? '',
    folded: false,
  };
}

function resolved(c: Conversation, e: EventOf<'confirm_resolved'>): Conversation {
  const old = find(c, 'confirm', e.confirmation_id) as Confirm | undefined;
  if (!old) return c;
  return put(c, { ...old, state: e.decision, by: e.by, reason: e.reason, decidedAt: e.at });
}

function ended(
  c: Conversation,
  e: { run_id?: string; at?: string },
  outcome: string,
  error?: { code: string; message: string; retryable: boolean },
): Conversation {
  const id = e.run_id ?? '';
  const closed = {
    ...withRun(c, id, (r) => ({ ...r, ended: true })),
    // The server closes whatever it started. A card that is still open here lost its end, and must not spin for ever.
    items: c.items.map((i) => {
      if (i.runId !== id) return i;
      if (i.kind === 'message' && i.live) return { ...i, live: false };
      if (i.kind === 'call' && (i.state === 'running' || i.state === 'retrying'))
        return { ...i, state: 'stopped' as const };
      return i;
    }),
    activeRun: c.activeRun === id ? null : c.activeRun,
  };
  return put(closed, { kind: 'end', id, runId: id, at: e.at ?? '', folded: false, outcome, error });
}

function withRun(c: Conversation, id: string | undefined, change: (r: Run) => Run): Conversation {
  const run = id === undefined ? undefined : c.runs[id];
  return run ? { ...c, runs: { ...c.runs, [run.id]: change(run) } } : c;
}

function find(c: Conversation, kind: Item['kind'], id: string): Item | undefined {
  return c.items.findLast((i) => i.kind === kind && i.id === id);
}

function put(c: Conversation, item: Item): Conversation {
  const key = keyOf(item);
  const at = c.items.findLastIndex((i) => keyOf(i) === key);
  return { ...c, items: at < 0 ? [...c.items, item] : c.items.with(at, item) };
}

function count(s: string): number {
  let n = 0;
  for (const ch of s) n += ch.length > 0 ? 1 : 0;
  return n;
}
