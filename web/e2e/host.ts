import { randomBytes } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A page with Superset's default policy, and the agent behind /agentd/ on the same origin. */
export class Host {
  base = '';
  #server: Server;

  constructor(
    agent: string,
    private readonly o: { nonce?: boolean; frameSrc?: string; loader?: string } = {},
  ) {
    const target = new URL(agent);
    this.#server = createServer((q, s) => {
      const url = new URL(q.url ?? '/', 'http://x');
      if (url.pathname.startsWith('/agentd/')) {
        const path = url.pathname.slice('/agentd'.length) + url.search;
        const up = request(
          { host: target.hostname, port: target.port, path, method: q.method, headers: q.headers },
          (r) => {
            s.writeHead(r.statusCode ?? 502, r.headers);
            r.pipe(s);
          },
        );
        up.on('error', () => s.destroy());
        s.on('close', () => up.destroy());
        q.pipe(up);
        return;
      }
      if (url.pathname.startsWith('/api/v1/dashboard/')) {
        const id = decodeURIComponent(url.pathname.split('/')[4] ?? '');
        const found = {
          sales: { id: 42, dashboard_title: 'Sales overview' },
          77: { id: 77, dashboard_title: 'Returns' },
        }[id];
        s.writeHead(found ? 200 : 404, { 'Content-Type': 'application/json' });
        s.end(JSON.stringify(found ? { result: found } : { message: 'Not found' }));
        return;
      }
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
      const bootstrap = JSON.stringify({ common: { application_root: '/', locale: 'ru' } }).replaceAll('"', '&quot;');
      const tag = `<script ${this.o.nonce === false ? '' : `nonce="${nonce}"`} src="${this.o.loader ?? '/agentd/'}embed.js" data-agentd="${this.o.loader ?? '/agentd/'}" defer></script>`;
      s.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': rules.join('; ') });
      s.end(
        `<!doctype html><html><head><title>An earlier chart</title></head><body><div id="app" data-bootstrap="${bootstrap}"></div><main><h1>Superset</h1><input aria-label="filter"></main>${tag}</body></html>`,
      );
    });
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
