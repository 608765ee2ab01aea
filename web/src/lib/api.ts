import { Malformed, bool, json, list, num, obj, one, opt, str, type Read, type Reader } from './check';
import { parseJson, writeJson, type Json } from './json';
import { readSnapshot, type Snapshot } from './transcript';
import { columnShape, type Decision, type View } from './wire';

const environment = obj({ id: str, title: str, class: one('prod', 'staging', 'dev'), reachable: opt(bool) });
const summary = obj({ id: str, title: str, updated_at: str, open_confirmations: num });
const me = obj({
  user: str,
  name: opt(str),
  roles: list(str),
  language: opt(str),
  model: opt(obj({ provider: str, name: opt(str), offline: opt(bool) })),
  limits: opt(obj({ message_chars: num })),
});
const card = obj({
  confirmation_id: str,
  conversation_id: str,
  tool: str,
  env_id: opt(str),
  dangerous: bool,
  preview: obj({ object: opt(str) }),
  created_at: str,
  expires_at: str,
  own: opt(bool),
});
const page = obj({
  columns: list(columnShape),
  rows: list(list(json)),
  text: opt(str),
  total: opt(num),
  next_cursor: opt(str),
  eof: bool,
  expires_at: str,
});
const field = obj({ pointer: str, detail: str });
const problem = obj({ code: str, detail: opt(str), title: opt(str), request_id: opt(str), errors: list(field) });

export type Environment = Read<typeof environment>;
export type Summary = Read<typeof summary>;
export type Me = Read<typeof me>;
export type Card = Read<typeof card>;
export type ArtifactPage = Read<typeof page>;
export type Field = Read<typeof field>;

const none: Reader<void> = () => undefined;

/** A request that was refused, or that got no answer: then the status is 0 and nobody knows whether it arrived. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: Field[] = [],
    readonly retryAfter = 0,
    readonly requestId = '',
  ) {
    super(message);
    this.name = 'Refused';
  }
}

export interface NewMessage {
  message: string;
  env_id?: string;
  ui_context?: View;
  replaces?: string;
  idempotency_key: string;
}

export interface Answer {
  decision: Decision;
  args_digest: string;
  edited_args?: Json;
  reason?: string;
}

/** The server's routes. Every answer is checked; every failure is a Refused, or the signal's own abort. */
export class Api {
  /** Sent with each request, where the server knows people by the token of the embedding page itself. In memory only. */
  token = '';

  constructor(
    readonly base: string,
    private readonly fetcher: typeof fetch = (...a) => fetch(...a),
  ) {}

  me = (signal?: AbortSignal) => this.#call('GET', 'me', me, undefined, signal);

  environments = (signal?: AbortSignal) =>
    this.#call('GET', 'environments', obj({ environments: list(environment) }), undefined, signal).then(
      (r) => r.environments,
    );

  conversations = (o: { q?: string; cursor?: string; limit?: number } = {}, signal?: AbortSignal) =>
    this.#call(
      'GET',
      `conversations?${query(o)}`,
      obj({ conversations: list(summary), next_cursor: opt(str) }),
      undefined,
      signal,
    );

  create = () => this.#call('POST', 'conversations', obj({ id: str }), {}).then((r) => r.id);

  conversation = (id: string, signal?: AbortSignal): Promise<Snapshot> =>
    this.#call('GET', `conversations/${encodeURIComponent(id)}`, readSnapshot, undefined, signal);

  send = (id: string, m: NewMessage) =>
    this.#call('POST', `conversations/${encodeURIComponent(id)}/messages`, obj({ run_id: str, message_id: str }), {
      ...m,
    });

  cancel = (id: string) => this.#call('POST', `conversations/${encodeURIComponent(id)}/cancel`, none, {});

  decide = (id: string, confirmation: string, a: Answer) =>
    this.#call(
      'POST',
      `conversations/${encodeURIComponent(id)}/confirmations/${encodeURIComponent(confirmation)}`,
      obj({ state: str, replayed: opt(bool) }),
      // The card is the key: it is answered once, however often the answer is sent.
      a,
    );

  retry = (id: string, call: string) =>
    this.#call('POST', `conversations/${encodeURIComponent(id)}/calls/${encodeURIComponent(call)}/retry`, none, {});

  /** Signs in with a token of the embedding page: for a session of this origin, or with the token itself. */
  async signIn(token: string): Promise<void> {
    if (this.token || !(await this.#handover('POST', { token }))) this.token = token;
  }

  /** Signs out whoever the embedding page signed in. */
  async signOut(): Promise<void> {
    if (this.token) this.token = '';
    else await this.#handover('DELETE', {});
  }

  /** Reports whether the server makes sessions of tokens. */
  async #handover(method: string, body: object): Promise<boolean> {
    try {
      await this.#call(method, 'handover', none, body);
      return true;
    } catch (e) {
      if (e instanceof Refused && e.status === 404) return false;
      throw e;
    }
  }

  rename = (id: string, title: string) =>
    this.#call('PATCH', `conversations/${encodeURIComponent(id)}`, none, { title });

  remove = (id: string) => this.#call('DELETE', `conversations/${encodeURIComponent(id)}`, none, {});

  feedback = (id: string, message: string, rating: 'up' | 'down') =>
    this.#call(
      'POST',
      `conversations/${encodeURIComponent(id)}/messages/${encodeURIComponent(message)}/feedback`,
      none,
      { rating },
    );

  confirmations = (signal?: AbortSignal) =>
    this.#call('GET', 'confirmations?state=pending', obj({ confirmations: list(card) }), undefined, signal).then(
      (r) => r.confirmations,
    );

  artifact = (id: string, o: { cursor?: string; limit: number }, signal?: AbortSignal) =>
    this.#call('GET', `artifacts/${encodeURIComponent(id)}?${query(o)}`, page, undefined, signal);

  downloadUrl = (id: string, format?: string) =>
    `${this.base}artifacts/${encodeURIComponent(id)}/download${format ? `?format=${format}` : ''}`;

  eventsUrl = (id: string) => `${this.base}conversations/${encodeURIComponent(id)}/events`;

  headers = (): Record<string, string> => ({
    'X-Requested-With': 'agentd',
    ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}),
  });

  async #call<T>(method: string, path: string, read: Reader<T>, body?: object, signal?: AbortSignal): Promise<T> {
    let res: Response;
    let text: string;
    try {
      res = await this.fetcher(this.base + path, {
        method,
        signal,
        cache: 'no-store',
        headers: {
          Accept: 'application/json',
          ...(body ? { 'Content-Type': 'application/json' } : {}),
          ...this.headers(),
        },
        body: body ? writeJson(body as Json) : undefined,
      });
      text = await res.text();
    } catch (e) {
      if (signal?.aborted) throw e;
      throw new Refused(0, 'no_answer', '');
    }
    if (!res.ok) throw refusal(res, text);
    try {
      return read(text === '' ? undefined : parseJson(text), path);
    } catch (e) {
      throw new Refused(res.status, 'malformed_answer', e instanceof Malformed ? e.message : 'not JSON');
    }
  }
}

function refusal(res: Response, text: string): Refused {
  const after = Number(res.headers.get('Retry-After') ?? 0) || 0;
  try {
    const p = problem(parseJson(text), 'problem');
    return new Refused(res.status, p.code, p.detail ?? p.title ?? '', p.errors, after, p.request_id ?? '');
  } catch {
    // A proxy in between answers with a page of its own; none of it is shown.
    return new Refused(res.status, `http_${res.status}`, '', [], after);
  }
}

function query(o: Record<string, string | number | undefined>): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(o)) if (v !== undefined && v !== '') q.set(k, String(v));
  return q.toString();
}
