import { randomBytes } from 'node:crypto';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Options {
  /** Whether the tag of the loader has the nonce that the policy asks for. */
  nonce?: boolean;
  frameSrc?: string;
  /** Where the loader and the frame are, when it is another origin. */
  loader?: string;
  /** A page that stands in for the agent's own. */
  frame?: string;
  /** Application root of the host. */
  root?: string;
  /** Address of the hand-over, below the root. */
  handover?: string;
  hideOn?: string;
  tags?: number;
}

const theme = {
  default: { token: { fontFamily: "'PT Sans', sans-serif", colorLink: '#2893B3' } },
  dark: { token: { fontFamily: 'Arial', colorLink: '#58abc0' } },
};

/** A page with Superset's default policy, and the agent behind /agentd/ on the same origin. */
export class Host {
  base = '';
  /** What the host knows by type and id, slug or key; the rest is not there, or not for this user. */
  readonly objects: Record<string, object> = {
    'dashboard/sales': { id: 42, dashboard_title: 'Sales overview' },
    'dashboard/77': { id: 77, dashboard_title: 'Returns' },
    'dashboard/пр': { id: 43, dashboard_title: 'Прибыль' },
    'chart/5': { id: 5, slice_name: 'Revenue by month' },
    'dataset/6': { id: 6, table_name: 'orders' },
  };
  /** Answers about objects wait for it. */
  wait: Promise<void> = Promise.resolve();
  /** Answers of the hand-over, in their order. */
  handover: [number, unknown][] = [];
  #server: Server;
  #root: string;

  constructor(
    private readonly agent: string,
    private readonly o: Options = {},
  ) {
    this.#root = o.root ?? '';
    this.#server = createServer((q, s) => void this.#handle(q, s));
  }

  async #handle(q: IncomingMessage, s: ServerResponse): Promise<void> {
    const url = new URL(q.url ?? '/', 'http://x');
    const path = url.pathname.slice(this.#root.length);
    if (path === '/agentd/agent' && this.o.frame)
      return void s.writeHead(200, { 'Content-Type': 'text/html' }).end(this.o.frame);
    if (path.startsWith('/agentd/')) return this.#pass(path.slice('/agentd'.length) + url.search, q, s);
    if (path === this.o.handover) {
      const [status, body] = this.handover.shift() ?? [404, {}];
      return json(s, status, body);
    }
    if (path === '/api/v1/explore/permalink/Ab3') return json(s, 200, { chartId: 5, datasourceId: 6 });
    if (path.startsWith('/api/v1/')) {
      const [, , , type, id = ''] = path.split('/');
      const found = this.objects[`${type}/${decodeURIComponent(id)}`];
      await this.wait;
      return json(s, found ? 200 : 404, found ? { result: found } : { message: 'Not found' });
    }
    this.#page(s);
  }

  #pass(path: string, q: IncomingMessage, s: ServerResponse): void {
    const { hostname: host, port } = new URL(this.agent);
    const up = request({ host, port, path, method: q.method, headers: q.headers }, (r) => {
      s.writeHead(r.statusCode ?? 502, r.headers);
      r.pipe(s);
    });
    up.on('error', () => s.destroy());
    s.on('close', () => up.destroy());
    q.pipe(up);
  }

  #page(s: ServerResponse): void {
    const nonce = randomBytes(12).toString('base64');
    const rules = [
      "base-uri 'self'",
      "default-src 'self'",
      "img-src 'self' blob: data:",
      "worker-src 'self' blob:",
      "connect-src 'self'",
      "object-src 'none'",
      "style-src 'self' 'unsafe-inline'",
      `script-src 'self' 'strict-dynamic' 'nonce-${nonce}'`,
      ...(this.o.frameSrc ? [`frame-src ${this.o.frameSrc}`] : []),
    ];
    const common = { application_root: `${this.#root}/`, locale: 'ru', theme };
    const bootstrap = JSON.stringify({ common }).replaceAll('"', '&quot;');
    const loader = this.o.loader ?? `${this.#root}/agentd/`;
    const attributes = [
      ...(this.o.nonce === false ? [] : [`nonce="${nonce}"`]),
      `src="${loader}embed.js" data-agentd="${loader}"`,
      ...(this.o.handover ? [`data-handover="${this.#root}${this.o.handover}"`] : []),
      ...(this.o.hideOn === undefined ? [] : [`data-hide-on="${this.o.hideOn}"`]),
    ];
    const tag = `<script ${attributes.join(' ')} defer></script>`;
    const lab = `<script nonce="${nonce}">window.superset = { sqlLab: { getCurrentTab() {
      if (!/sqllab/.test(location.pathname)) throw new Error('not in SQL Lab');
      return { databaseId: 1, schema: 'main' };
    } } }</script>`;
    s.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': rules.join('; ') });
    s.end(
      `<!doctype html><html><head><title>An earlier chart</title></head><body><div id="app" data-bootstrap="${bootstrap}"></div><main><h1>Superset</h1><input aria-label="filter"></main>${lab}${tag.repeat(this.o.tags ?? 1)}</body></html>`,
    );
  }

  async listen(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.base = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

/** What a test reaches of the launcher. */
export interface Peeked {
  agentd: { cmd: (c: string) => void };
  shadow: ShadowRoot;
}

/** A script for a page: the launcher's root is closed to the page, and a test looks in all the same. */
export function peek(): void {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) {
    return ((window as unknown as Peeked).shadow = attach.call(this, init));
  };
}

function json(s: ServerResponse, status: number, body: unknown): void {
  s.writeHead(status, { 'Content-Type': 'application/json' });
  s.end(typeof body === 'string' ? body : JSON.stringify(body));
}
