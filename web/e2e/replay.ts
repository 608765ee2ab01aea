import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

// Replays event logs over HTTP with the routes and headers of the real server, so that the page can be seen in every
// state without a model. What it answers is scripted; nothing is decided here.

export type Payload = { type: string; run_id?: string } & Record<string, unknown>;
export type Logged = Payload & { seq: number; at: string };

/** What happens after a message; a number is a pause in milliseconds. */
export type Script = (text: string, messageId: string, body: Record<string, unknown>) => (Payload | number)[];

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
};

export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html; frame-ancestors 'self'";

export class Replay {
  readonly requests: { method: string; path: string; body: Record<string, unknown> }[] = [];
  readonly logs = new Map<string, Logged[]>();
  script: Script = () => [];
  onDecision: (id: string, body: Record<string, unknown>) => (Payload | number)[] = () => [];
  environments = [
    { id: 'ss-dev', title: 'Development', class: 'dev', reachable: true },
    { id: 'ss-staging', title: 'Staging', class: 'staging', reachable: true },
    { id: 'ss-prod', title: 'Production', class: 'prod', reachable: true },
  ];
  user = 'dev';
  language = 'en';
  signedOut = false;
  refuseStreams = 0;
  /** Set to answer the next POST of a message with this status and code. */
  refuseMessage: { status: number; code: string } | null = null;

  readonly titles = new Map<string, string>();
  /** Rows of the one stored result. */
  stored: unknown[][] = [];

  #server: Server;
  #streams = new Set<{ id: string; res: ServerResponse }>();
  #ids = 0;

  constructor(private readonly dist: string) {
    this.#server = createServer((q, s) => void this.#handle(q, s));
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** Breaks every open stream, as a network does. */
  cut(): void {
    for (const s of this.#streams) s.res.destroy();
    this.#streams.clear();
  }

  get streams(): number {
    return this.#streams.size;
  }

  append(id: string, payload: Payload): void {
    const log = this.logs.get(id) ?? [];
    this.logs.set(id, log);
    const event: Logged = {
      ...payload,
      seq: log.length + 1,
      run_id: payload.run_id ?? '',
      at: new Date().toISOString(),
    };
    log.push(event);
    for (const s of this.#streams) if (s.id === id) s.res.write(frame(event));
  }

  async play(id: string, steps: (Payload | number)[]): Promise<void> {
    for (const step of steps) {
      if (typeof step === 'number') await new Promise((done) => setTimeout(done, step));
      else this.append(id, step);
    }
  }

  async #handle(q: IncomingMessage, s: ServerResponse): Promise<void> {
    const url = new URL(q.url ?? '/', 'http://x');
    if (!url.pathname.startsWith('/api/')) return this.#file(url.pathname, s);
    const chunks: Buffer[] = [];
    for await (const c of q) chunks.push(c as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = text ? (JSON.parse(text) as Record<string, unknown>) : {};
    const method = q.method ?? '';
    const path = url.pathname.replace('/api/v1', '');
    this.requests.push({ method, path, body });
    if (this.signedOut) return problem(s, 401, 'unauthenticated');
    const [, kind, id = '', part, inner = ''] = path.split('/');
    if (kind === 'me') {
      const model = { provider: 'offline', name: 'planner', offline: true };
      return json(s, 200, { user: this.user, name: 'Dev User', roles: ['Admin'], language: this.language, model });
    }
    if (kind === 'environments') return json(s, 200, { environments: this.environments });
    if (kind === 'confirmations') return json(s, 200, { confirmations: this.#cards() });
    if (kind === 'artifacts') return this.#artifact(id, url.searchParams, s);
    if (kind !== 'conversations') return problem(s, 404, 'missing');
    if (!id && method === 'POST') {
      const fresh = `c${++this.#ids}`;
      this.logs.set(fresh, []);
      return json(s, 201, { id: fresh });
    }
    if (!id) return json(s, 200, { conversations: this.#listed(url.searchParams.get('q') ?? '') });
    const log = this.logs.get(id);
    if (!log) return problem(s, 404, 'missing');
    if (!part && method === 'PATCH') {
      this.titles.set(id, String(body.title));
      return void s.writeHead(204).end();
    }
    if (!part && method === 'DELETE') {
      this.logs.delete(id);
      return void s.writeHead(204).end();
    }
    if (part === 'messages' && path.endsWith('/feedback')) return void s.writeHead(204).end();
    if (!part) return json(s, 200, this.#snapshot(id, log));
    if (part === 'events') return this.#stream(id, log, q, s);
    if (part === 'messages') return this.#message(id, body, s);
    if (part === 'cancel') return void s.writeHead(204).end();
    if (part === 'confirmations') {
      json(s, 200, { run_id: 'run_decision', state: 'claimed', replayed: false });
      return this.play(id, this.onDecision(inner, body));
    }
    if (part === 'calls') return json(s, 202, { run_id: 'run_retry', call_id: `${inner}_again` });
    return problem(s, 404, 'missing');
  }

  #message(id: string, body: Record<string, unknown>, s: ServerResponse): Promise<void> | void {
    const refuse = this.refuseMessage;
    this.refuseMessage = null;
    if (refuse) return problem(s, refuse.status, refuse.code);
    const n = ++this.#ids;
    const run_id = `run_${n}`;
    const message_id = `msg_${n}`;
    json(s, 202, { run_id, message_id });
    const text = String(body.message);
    const begun: Payload[] = [
      {
        type: 'message',
        run_id,
        message_id,
        role: 'user',
        text,
        ...(body.replaces ? { replaces: body.replaces } : {}),
      },
      {
        type: 'run_started',
        run_id,
        cause: 'message',
        message_id,
        env_id: body.env_id ?? '',
        ui_context: body.ui_context ?? {},
        tools: [],
        dropped: { rbac: 0, affinity: 0 },
      },
    ];
    const steps = this.script(text, message_id, body).map((p) => (typeof p === 'number' ? p : { run_id, ...p }));
    return this.play(id, [...begun, ...steps]);
  }

  #listed(q: string): object[] {
    const all = [...this.logs.keys()].map((c) => this.#summary(c)).reverse();
    return all.filter((c) => c.title.toLowerCase().includes(q.toLowerCase()));
  }

  #cards(): object[] {
    return [...this.logs].flatMap(([conversation_id, log]) =>
      log
        .filter((e) => e.type === 'confirm_required' && !this.#resolved(log, String(e.confirmation_id)))
        .map((e) => ({ ...e, conversation_id, created_at: e.at, own: true })),
    );
  }

  #artifact(id: string, q: URLSearchParams, s: ServerResponse): void {
    if (id !== 'art_01JZZZZZZZZZZZZZZZZZZZZZZZ') return problem(s, 410, 'expired');
    const from = Number(q.get('cursor') ?? 0);
    const to = from + Number(q.get('limit'));
    const eof = to >= this.stored.length;
    json(s, 200, {
      columns: [{ name: 'id' }, { name: 'title' }],
      rows: this.stored.slice(from, to),
      total: this.stored.length,
      ...(eof ? {} : { next_cursor: String(to) }),
      eof,
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    });
  }

  #summary(id: string): { title: string } & Record<string, unknown> {
    const log = this.logs.get(id) ?? [];
    const first = log.find((e) => e.type === 'message' && e.role === 'user');
    const open = log.filter((e) => e.type === 'confirm_required' && !this.#resolved(log, String(e.confirmation_id)));
    return {
      id,
      title: this.titles.get(id) ?? String(first?.text ?? '').slice(0, 60),
      created_at: log[0]?.at ?? new Date().toISOString(),
      updated_at: log.at(-1)?.at ?? new Date().toISOString(),
      open_confirmations: open.length,
    };
  }

  #resolved = (log: Logged[], id: string): boolean =>
    log.some((e) => e.type === 'confirm_resolved' && e.confirmation_id === id);

  /** The same shape as the server's: items that keep their events. */
  #snapshot(id: string, log: Logged[]): object {
    const items = new Map<string, Record<string, unknown>>();
    const at = (key: string, e: Logged, kind: string): Record<string, unknown> => {
      const item = items.get(key) ?? { kind, seq: e.seq, run_id: e.run_id, at: e.at };
      items.set(key, item);
      return item;
    };
    const partial = new Map<string, string>();
    for (const e of log) {
      const message = `m:${String(e.message_id)}`;
      const call = `c:${String(e.call_id)}`;
      const confirm = `q:${String(e.confirmation_id)}`;
      if (e.type === 'text_delta') {
        const text = [...(partial.get(message) ?? '')].slice(0, Number(e.offset)).join('') + String(e.text);
        partial.set(message, text);
        Object.assign(at(message, e, 'message'), {
          message_id: e.message_id,
          role: 'assistant',
          text,
          state: 'partial',
        });
      } else if (e.type === 'message') {
        Object.assign(at(message, e, 'message'), {
          ...e,
          kind: 'message',
          state: 'final',
          seq: at(message, e, '').seq,
        });
      } else if (e.type === 'run_started') at(`r:${e.run_id}`, e, 'run').start = e;
      else if (e.type === 'run_finished' || e.type === 'run_error') at(`r:${e.run_id}`, e, 'run').end = e;
      else if (e.type === 'usage') at(`r:${e.run_id}`, e, 'run').usage = e;
      else if (e.type === 'confirm_required') at(confirm, e, 'confirmation').start = e;
      else if (e.type === 'confirm_resolved') at(confirm, e, 'confirmation').end = e;
      else if (e.type === 'tool_start') at(call, e, 'call').start = e;
      else if (e.type === 'tool_retry') at(call, e, 'call').retry = e;
      else if (e.type === 'tool_outcome') at(call, e, 'call').outcome = e;
      else at(call, e, 'call').end = e;
    }
    const started = log.findLast((e) => e.type === 'run_started');
    const ended = log.some(
      (e) => (e.type === 'run_finished' || e.type === 'run_error') && e.run_id === started?.run_id,
    );
    return {
      id,
      title: String(log[0]?.text ?? ''),
      items: [...items.values()],
      open_confirmations: [],
      ...(started && !ended ? { active_run: started.run_id } : {}),
      last_event_id: log.length,
    };
  }

  #stream(id: string, log: Logged[], q: IncomingMessage, s: ServerResponse): void {
    if (this.refuseStreams > 0) {
      this.refuseStreams--;
      return problem(s, 503, 'unavailable');
    }
    const after = Number(q.headers['last-event-id'] ?? 0);
    if (after > log.length) return problem(s, 400, 'malformed_event_id');
    s.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache, no-transform' });
    s.write('retry: 200\n\n');
    for (const e of log.slice(after)) s.write(frame(e));
    const stream = { id, res: s };
    this.#streams.add(stream);
    s.on('close', () => this.#streams.delete(stream));
  }

  #file(path: string, s: ServerResponse): void {
    const name = path === '/agent' ? 'index.html' : path.slice(1);
    try {
      const bytes = readFileSync(join(this.dist, name));
      const html = name === 'index.html' ? { 'Content-Security-Policy': policy } : {};
      s.writeHead(200, { 'Content-Type': types[extname(name)] ?? 'application/octet-stream', ...html }).end(bytes);
    } catch {
      s.writeHead(404).end();
    }
  }
}

const frame = (e: Logged): string => `id: ${e.seq}\nevent: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`;

function json(s: ServerResponse, status: number, body: object): void {
  s.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

function problem(s: ServerResponse, status: number, code: string): void {
  s.writeHead(status, {
    'Content-Type': 'application/problem+json',
    ...(status === 429 ? { 'Retry-After': '7' } : {}),
  });
  s.end(JSON.stringify({ type: 'about:blank', title: code, status, detail: '', code }));
}
