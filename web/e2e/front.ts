import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A reverse proxy: an address that stays while what is behind it dies, and a network that can be cut. */
export class Front {
  base = '';
  /** How many of the next event streams are answered with 503. */
  refuse = 0;
  /** Requests wait for it before they are passed on: `(method, path) => promise`. */
  hold: (method: string, path: string) => Promise<void> | undefined = () => undefined;
  #routes: [string, string][] = [];
  #server: Server;
  #streams = new Set<ServerResponse>();

  constructor() {
    this.#server = createServer((q, s) => {
      const url = q.url ?? '/';
      const [prefix, target] = this.#routes.find(([p]) => url.startsWith(p)) ?? ['', ''];
      const stream = url.endsWith('/events');
      if (!target || (stream && this.refuse > 0)) {
        if (stream) this.refuse--;
        s.writeHead(503, { 'Content-Type': 'text/html' }).end('<h1>Service Unavailable</h1>');
        return;
      }
      if (stream) this.#streams.add(s);
      s.on('close', () => this.#streams.delete(s));
      const path = url.slice(prefix.length - 1);
      void Promise.resolve(this.hold(q.method ?? '', path)).then(() => pass(q, s, new URL(path, target)));
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.base = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  /** Sends what begins with `prefix`, without it, to a server. The longest prefix that fits counts. */
  route(prefix: string, target: string): this {
    this.#routes = [...this.#routes, [prefix, target] as [string, string]].toSorted(([a], [b]) => b.length - a.length);
    return this;
  }

  /** Breaks every event stream, in the middle of whatever it says. */
  cut(): void {
    for (const s of this.#streams) s.destroy();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

/** Passes a request on, and its answer back as it comes. What breaks on one side breaks on the other. */
function pass(q: IncomingMessage, s: ServerResponse, to: URL): void {
  if (s.destroyed) return;
  const headers = { ...q.headers, 'x-forwarded-for': '127.0.0.1' };
  const up = request(to, { method: q.method, headers, agent: false }, (r) => {
    s.writeHead(r.statusCode ?? 502, r.headers);
    s.flushHeaders();
    r.pipe(s);
    r.on('error', () => s.destroy());
  });
  up.on('error', () => (s.headersSent ? s.destroy() : s.writeHead(502).end()));
  s.on('close', () => up.destroy());
  q.pipe(up);
}
