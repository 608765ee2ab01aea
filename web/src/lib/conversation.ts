import type { Artifact, ConfirmPreview, Decision, Link, Preview, Risk, View } from './wire';
import type { Json } from './json';

// What the page shows of a conversation. It is only ever made by `reduce`, so live, replay and tests agree.

export interface Message {
  kind: 'message';
  id: string;
  runId: string;
  role: 'user' | 'assistant';
  text: string;
  /** Length in code points: the unit of the offsets of deltas. */
  points: number;
  live: boolean;
  at: string;
  /** A later message edited this one or one before it; the model does not see it any more. */
  folded: boolean;
}

export type CallState = 'running' | 'retrying' | 'done' | 'failed' | 'unknown' | 'denied' | 'stopped';

export interface Call {
  kind: 'call';
  id: string;
  runId: string;
  tool: string;
  args: Json;
  envId: string;
  /** Undefined for a call that never began: refused, or not known. */
  risk?: Risk;
  state: CallState;
  at: string;
  folded: boolean;
  attempt?: number;
  maxAttempts?: number;
  durationMs?: number;
  summary?: string;
  preview?: Preview;
  artifact?: Artifact;
  links: Link[];
  /** Class of the failure, cause of the timeout, or reason of the refusal. */
  why?: string;
  message?: string;
  timeoutMs?: number;
  verify?: string;
  retryable: boolean;
  retryExhausted: boolean;
  requiredPermission?: string;
  outcome?: 'applied' | 'not_applied' | 'still_unknown';
  evidence?: string;
  retryOf?: string;
  /** The call that repeated this one. */
  retriedBy?: string;
}

export type ConfirmState = 'open' | 'approved' | 'edited' | 'rejected' | 'expired' | 'superseded';

export interface Confirm {
  kind: 'confirm';
  id: string;
  runId: string;
  callId: string;
  tool: string;
  args: Json;
  argsDigest: string;
  envId: string;
  risk: Risk;
  dangerous: boolean;
  countdownSeconds: number;
  allowed: Decision[];
  editSchema?: Json;
  preview: ConfirmPreview;
  expiresAt: string;
  state: ConfirmState;
  at: string;
  folded: boolean;
  by?: string;
  reason?: string;
  decidedAt?: string;
}

export interface RunEnd {
  kind: 'end';
  id: string;
  runId: string;
  at: string;
  folded: boolean;
  /** One of the documented outcomes, or `error`. */
  outcome: string;
  error?: { code: string; message: string; retryable: boolean };
}

export type Item = Message | Call | Confirm | RunEnd;

export interface Run {
  id: string;
  messageId: string;
  envId: string;
  view?: View;
  startedAt: string;
  ended: boolean;
  /** A write began in it: the same question must not simply be asked again. */
  wrote: boolean;
  inputTokens: number;
  outputTokens: number;
  cost?: number;
}

export interface Conversation {
  /** The last event that was applied. */
  seq: number;
  items: Item[];
  runs: Record<string, Run>;
  activeRun: string | null;
  /** The log no longer holds what the page needs: it must be read again. */
  stale: boolean;
}

export const empty: Conversation = { seq: 0, items: [], runs: {}, activeRun: null, stale: false };

/** Key of an item in a list; unique in a conversation. */
export const keyOf = (i: Pick<Item, 'kind' | 'id'>): string => `${i.kind}:${i.id}`;

export const openConfirms = (c: Conversation): Confirm[] =>
  c.items.filter((i): i is Confirm => i.kind === 'confirm' && i.state === 'open');
