import { Malformed, bool, json, list, num, obj, one, opt, str, type Read, type Reader } from './check';
import { parseJson } from './json';

// What the event stream can say. The types follow from the checks, so neither can lie about the other.
// The shared fixtures in internal/httpapi/testdata/events hold this file and the Go encoder to one shape.

const risk = obj({ tool: str, env: str, permission: str });

const artifact = obj({
  decision: one('CREATED', 'SKIPPED', 'DENIED', 'FAILED', 'CANCELLED'),
  coverage: opt(str),
  id: opt(str),
  format: opt(str),
  size_bytes: opt(num),
  rows: opt(num),
  expires_at: opt(str),
});

export const columnShape = obj({ name: str, type: opt(str), exact: opt(bool) });

const preview = obj({
  text: opt(str),
  columns: list(columnShape),
  rows: list(list(json)),
  items: list(json),
  object: opt(json),
  completeness: opt(str),
  returned: opt(num),
  total: opt(num),
  bounded_by: list(str),
});

const link = obj({ title: str, url: str });

const view = obj({
  objectType: opt(str),
  objectId: opt(str),
  objectName: opt(str),
  envId: opt(str),
  route: opt(str),
});

const change = obj({ field: str, before: opt(json), after: opt(json) });
const dependent = obj({ kind: str, id: opt(str), title: str, url: opt(str), note: opt(str) });

const reference = obj({
  argument: str,
  uri: str,
  tool: str,
  title: opt(str),
  rows: opt(num),
  size_bytes: num,
  sha256: str,
});

const confirmPreview = obj({
  object: opt(str),
  url: opt(str),
  diff: list(change),
  blast_radius: list(dependent),
  changed_on: opt(str),
  owners: list(str),
  notes: list(str),
  untrusted: list(str),
  backup: opt(artifact),
  references: list(reference),
});

const decisionWord = one('approve', 'edit', 'reject');

const shapes = {
  run_started: obj({
    cause: one('message', 'decision', 'retry'),
    message_id: opt(str),
    env_id: opt(str),
    ui_context: opt(view),
    tools: list(str),
    dropped: opt(obj({ rbac: num, affinity: num })),
  }),
  text_delta: obj({ message_id: str, offset: num, text: str }),
  message: obj({ message_id: str, role: one('user', 'assistant'), text: str, replaces: opt(str) }),
  tool_start: obj({ call_id: str, tool: str, args: json, env_id: opt(str), risk, retry_of: opt(str) }),
  tool_retry: obj({
    call_id: str,
    tool: str,
    attempt: num,
    max_attempts: num,
    delay_ms: num,
    reason: obj({ class: str, status: num }),
  }),
  tool_result: obj({
    call_id: str,
    tool: str,
    duration_ms: num,
    summary: str,
    preview: opt(preview),
    artifact: opt(artifact),
    links: list(link),
  }),
  tool_error: obj({
    call_id: str,
    tool: str,
    class: str,
    message: str,
    retryable: bool,
    retry_exhausted: bool,
  }),
  tool_timeout: obj({
    call_id: str,
    tool: str,
    cause: str,
    timeout_ms: num,
    is_write_tool: bool,
    retryable: bool,
    outcome: one('none', 'unknown'),
    verify: opt(str),
  }),
  tool_outcome: obj({ call_id: str, outcome: one('applied', 'not_applied', 'still_unknown'), evidence: str }),
  permission_denied: obj({
    call_id: str,
    tool: str,
    env_id: opt(str),
    reason: str,
    required_permission: opt(str),
  }),
  confirm_required: obj({
    confirmation_id: str,
    call_id: str,
    tool: str,
    args: json,
    args_digest: str,
    env_id: opt(str),
    risk,
    dangerous: bool,
    countdown_seconds: num,
    allowed_decisions: list(decisionWord),
    edit_schema: opt(json),
    preview: confirmPreview,
    expires_at: str,
  }),
  confirm_resolved: obj({
    confirmation_id: str,
    decision: one('approved', 'edited', 'rejected', 'expired', 'superseded'),
    by: str,
    reason: opt(str),
  }),
  usage: obj({ input_tokens: num, output_tokens: num, cost: opt(num) }),
  run_finished: obj({ outcome: str }),
  run_error: obj({ code: str, message: str, retryable: bool }),
  reset: obj({}),
};

const envelope = obj({ seq: num, run_id: opt(str), at: opt(str) });

export type EventType = keyof typeof shapes;
type Payloads = { [T in EventType]: Read<(typeof shapes)[T]> };

/** Every event that the page knows, told apart by `type`. */
export type WireEvent = { [T in EventType]: { type: T } & Read<typeof envelope> & Payloads[T] }[EventType];
export type EventOf<T extends EventType> = Extract<WireEvent, { type: T }>;

export type Risk = Read<typeof risk>;
export type Preview = Read<typeof preview>;
export type Column = Read<typeof columnShape>;
export type Artifact = Read<typeof artifact>;
export type Link = Read<typeof link>;
export type View = Read<typeof view>;
export type Change = Read<typeof change>;
export type Dependent = Read<typeof dependent>;
export type ConfirmPreview = Read<typeof confirmPreview>;
export type Decision = Read<typeof decisionWord>;

/** The types in the order of the documentation. */
export const eventTypes = Object.keys(shapes) as EventType[];

/**
 * Reads one event. A type that the page does not know gives null: a newer server may say more.
 * A known type of another shape throws Malformed.
 */
export function readEvent(v: unknown): WireEvent | null {
  const type = obj({ type: str })(v, '').type;
  if (!Object.hasOwn(shapes, type)) return null;
  const payload = (shapes as Record<string, Reader<object>>)[type]?.(v, type);
  // reset has no place in the log; every other event must say which it is.
  const common = type === 'reset' ? { seq: 0 } : envelope(v, type);
  return { type, ...common, ...payload } as WireEvent;
}

/** Reads the data of one frame of the stream. Throws Malformed for what is no JSON, too. */
export function readFrame(data: string): WireEvent | null {
  let v: unknown;
  try {
    v = parseJson(data);
  } catch {
    throw new Malformed('frame', 'JSON');
  }
  return readEvent(v);
}
