import { Refused, type Api } from '../api';
import type { Malformed } from '../check';
import { empty, openConfirms, type Confirm, type Conversation } from '../conversation';
import { randomKey } from '../key';
import { openStream, type StreamState } from '../sse';
import type { Json } from '../json';
import type { Decision, View, WireEvent } from '../wire';
import { Feed } from './feed';

/** A message on its way: drawn at once, replaced by the server's own event. */
export interface Pending {
  text: string;
  view: View;
  envId: string;
  messageId?: string;
}

/** What came of a decision that is being sent; `elsewhere` is one that was made, but not here. */
export interface Deciding {
  state: 'sending' | 'sent' | 'failed' | 'elsewhere';
  decision?: Decision;
  error?: Refused;
}

/** Decisions that a person made by hand. */
const personal = ['approved', 'edited', 'rejected'];

/** What the session tells its owner. */
export interface SessionEvents {
  created: (id: string) => void;
  happened: (events: WireEvent[]) => void;
  restored: () => void;
  malformed: (e: Malformed) => void;
  unknown: () => void;
  signedOut: () => void;
}

/** One conversation: its state, its stream, and what a person can do in it. */
export class Session {
  id = $state<string | null>(null);
  title = $state('');
  conversation = $state.raw<Conversation>(empty);
  loading = $state(false);
  gone = $state(false);
  link = $state<StreamState>('closed');
  attempt = $state(0);
  pending = $state.raw<Pending | null>(null);
  stopping = $state(false);
  /** Why the last message, stop or retry was not done. */
  refusal = $state.raw<Refused | null>(null);
  deciding = $state.raw<Record<string, Deciding>>({});

  readonly open = $derived.by<Confirm[]>(() => openConfirms(this.conversation));
  /** Apart from the items, so that text that grows is no news to those who only look at runs. */
  readonly runs = $derived.by(() => this.conversation.runs);
  readonly running = $derived.by(() => this.conversation.activeRun !== null);
  readonly busy = $derived.by(() => this.running || this.pending !== null);

  #life = new AbortController();
  #stream: AbortController | null = null;
  #hurry = new EventTarget();
  #feed: Feed;
  #lastKey = { text: '', key: '' };
  #wasLost = false;
  #rereads = 0;

  constructor(
    private readonly api: Api,
    private readonly events: SessionEvents,
  ) {
    this.#feed = new Feed({
      current: () => this.conversation,
      apply: (next, happened) => this.#apply(next, happened),
      malformed: (e) => this.events.malformed(e),
      unknown: () => this.events.unknown(),
    });
  }

  /** Shows a stored conversation and follows it. A load that was overtaken changes nothing. */
  async show(id: string): Promise<void> {
    this.close();
    this.id = id;
    this.loading = true;
    const life = this.#life;
    try {
      await this.#read(life);
    } finally {
      if (life === this.#life) this.loading = false;
    }
    if (life === this.#life && !life.signal.aborted && !this.gone) this.#connect();
  }

  /** Leaves the conversation; the next message begins a new one. */
  close(): void {
    this.#life.abort();
    this.#life = new AbortController();
    this.#disconnect();
    this.#feed.clear();
    this.id = null;
    this.title = '';
    this.conversation = empty;
    this.gone = false;
    this.loading = false;
    this.pending = null;
    this.stopping = false;
    this.refusal = null;
    this.deciding = {};
    this.#rereads = 0;
  }

  /** Sends a message. Reports whether the server took it; if not, `refusal` says why. */
  async send(text: string, view: View, envId: string, replaces?: string): Promise<boolean> {
    if (this.busy || text.trim() === '') return false;
    const life = this.#life;
    this.refusal = null;
    this.pending = { text, view, envId };
    try {
      let id = this.id;
      if (id === null) {
        id = await this.api.create();
        if (life !== this.#life) return false;
        this.id = id;
        this.events.created(id);
      }
      if (!this.#stream) this.#connect();
      const sent = await this.api.send(id, {
        message: text,
        idempotency_key: this.#keyFor(text),
        ...(envId ? { env_id: envId } : {}),
        ...(Object.keys(view).length > 0 ? { ui_context: view } : {}),
        ...(replaces ? { replaces } : {}),
      });
      if (life !== this.#life) return true;
      this.#lastKey = { text: '', key: '' };
      const arrived = this.conversation.items.some((i) => i.kind === 'message' && i.id === sent.message_id);
      this.pending = arrived ? null : { text, view, envId, messageId: sent.message_id };
      return true;
    } catch (e) {
      if (life === this.#life) {
        this.pending = null;
        this.#refuse(e);
      }
      return false;
    }
  }

  async stop(): Promise<void> {
    if (this.id === null || this.stopping) return;
    this.stopping = true;
    // Stopping refuses what is open: a decision of this page like any other.
    const before = this.deciding;
    for (const c of this.open) this.#note(c.id, { state: 'sent', decision: 'reject' });
    try {
      await this.api.cancel(this.id);
    } catch (e) {
      this.deciding = before;
      this.#refuse(e);
    } finally {
      this.stopping = false;
    }
  }

  async retry(callId: string): Promise<void> {
    if (this.id === null || this.busy) return;
    this.refusal = null;
    try {
      await this.api.retry(this.id, callId);
    } catch (e) {
      this.#refuse(e);
    }
  }

  /** Answers a card. While an answer is on its way, another one is not sent. */
  async decide(c: Confirm, decision: Decision, more: { reason?: string; args?: Json } = {}): Promise<void> {
    const now = this.deciding[c.id];
    if (this.id === null || c.state !== 'open' || now?.state === 'sending' || now?.state === 'sent') return;
    const life = this.#life;
    this.#note(c.id, { state: 'sending', decision });
    try {
      await this.api.decide(this.id, c.id, {
        decision,
        args_digest: c.argsDigest,
        ...(more.reason ? { reason: more.reason } : {}),
        ...(more.args !== undefined ? { edited_args: more.args } : {}),
      });
      if (life === this.#life) this.#note(c.id, { state: 'sent', decision });
    } catch (e) {
      if (life !== this.#life || !(e instanceof Refused)) return;
      if (e.status === 401) this.events.signedOut();
      // Nobody knows what the server has: it is asked before anything can be pressed again.
      if (e.status === 0 || e.status === 409 || e.status === 410) await this.#read(life).catch(() => undefined);
      if (life !== this.#life) return;
      const taken = e.status === 409 && !this.open.some((o) => o.id === c.id);
      this.#note(c.id, taken ? { state: 'elsewhere', decision } : { state: 'failed', decision, error: e });
    }
  }

  /** Tries to reach the server now instead of after the pause. */
  reconnect(): void {
    this.#hurry.dispatchEvent(new Event('hurry'));
  }

  /** A hidden tab in which nothing runs keeps no connection: a browser has few for one server. */
  setVisible(visible: boolean): void {
    if (visible) {
      if (this.id !== null && !this.#stream && !this.gone) this.#connect();
    } else if (!this.busy) this.#disconnect();
  }

  /** Stops following: what comes from now on may be for somebody else. */
  pause(): void {
    this.#disconnect();
  }

  destroy(): void {
    this.close();
    this.#life.abort();
  }

  #connect(): void {
    const id = this.id;
    if (id === null) return;
    this.#stream?.abort();
    const stream = new AbortController();
    this.#stream = stream;
    void openStream(this.api.eventsUrl(id), {
      from: this.conversation.seq,
      signal: stream.signal,
      hurry: this.#hurry,
      headers: this.api.headers,
      onData: (data, type) => {
        if (stream === this.#stream) this.#feed.push(data, type);
      },
      onState: (state, attempt) => {
        if (stream !== this.#stream) return;
        this.link = state;
        this.attempt = attempt;
        if (state === 'reconnecting') this.#wasLost = true;
        if (state === 'open' && this.#wasLost) {
          this.#wasLost = false;
          this.events.restored();
        }
      },
      onRefused: (status) => {
        if (stream === this.#stream) void this.#refusedStream(status);
      },
    });
  }

  #disconnect(): void {
    this.#stream?.abort();
    this.#stream = null;
    this.#wasLost = false;
    this.link = 'closed';
    this.attempt = 0;
  }

  async #refusedStream(status: number): Promise<void> {
    this.#disconnect();
    if (status === 401) this.events.signedOut();
    else if (status === 404 || status === 410) this.gone = true;
    // A position that the log does not have: the page knew another log.
    else await this.#reread();
  }

  async #reread(): Promise<void> {
    if (this.#rereads++ > 3) return;
    const life = this.#life;
    this.#disconnect();
    this.#feed.clear();
    this.conversation = empty;
    await this.#read(life);
    if (life === this.#life && !this.gone) this.#connect();
  }

  /** Reads the stored conversation, unless the page already knows more. */
  async #read(life: AbortController): Promise<void> {
    const id = this.id;
    if (id === null) return;
    try {
      const s = await this.api.conversation(id, life.signal);
      if (life !== this.#life) return;
      this.#feed.flush();
      this.title = s.title;
      if (s.conversation.seq >= this.conversation.seq) this.conversation = s.conversation;
    } catch (e) {
      if (life !== this.#life || life.signal.aborted) return;
      if (e instanceof Refused && (e.status === 404 || e.status === 410)) this.gone = true;
      else this.#refuse(e);
    }
  }

  #apply(next: Conversation, happened: WireEvent[]): void {
    this.conversation = next;
    const p = this.pending;
    // The stream may be faster than the answer that tells the message's id.
    if (
      p &&
      happened.some(
        (e) => e.type === 'message' && (e.message_id === p.messageId || (e.role === 'user' && e.text === p.text)),
      )
    )
      this.pending = null;
    for (const e of happened)
      if (e.type === 'confirm_resolved' && personal.includes(e.decision) && !this.deciding[e.confirmation_id])
        this.#note(e.confirmation_id, { state: 'elsewhere' });
    this.events.happened(happened);
    if (next.stale) void this.#reread();
    if (document.visibilityState === 'hidden') this.setVisible(false);
  }

  #refuse(e: unknown): void {
    if (!(e instanceof Refused)) throw e;
    if (e.status === 401) this.events.signedOut();
    this.refusal = e;
  }

  #note(id: string, d: Deciding): void {
    this.deciding = { ...this.deciding, [id]: d };
  }

  /** A text that is sent again because nobody answered is the same message. */
  #keyFor(text: string): string {
    if (this.#lastKey.text !== text || this.#lastKey.key === '') this.#lastKey = { text, key: randomKey() };
    return this.#lastKey.key;
  }
}
