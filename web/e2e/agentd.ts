import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const binary = process.env.AGENTD_BIN ?? join(import.meta.dirname, '../../bin/agentd');

/** The built server with its mock Supersets, in a process and a data directory of its own. */
export class Agentd {
  page = '';
  readonly mocks: Record<string, string> = {};

  private constructor(
    private readonly process: ChildProcess,
    private readonly dir: string,
  ) {}

  static async demo(...flags: string[]): Promise<Agentd> {
    const dir = mkdtempSync(join(tmpdir(), 'agentd-demo-'));
    const child = spawn(binary, ['demo', '--listen', '127.0.0.1:0', '--data-dir', dir, ...flags]);
    const server = new Agentd(child, dir);
    const said: string[] = [];
    await new Promise<void>((ready, failed) => {
      const line = (text: string) => {
        said.push(text);
        const mock = /^mock-superset (\w+) ready at (\S+)/.exec(text);
        if (mock?.[1] && mock[2]) server.mocks[mock[1]] = mock[2];
        const page = /^agentd ready at (\S+)/.exec(text);
        if (!page?.[1]) return;
        server.page = page[1];
        ready();
      };
      createInterface({ input: child.stdout }).on('line', line);
      createInterface({ input: child.stderr }).on('line', line);
      child.on('error', failed);
      child.on('exit', (code) => failed(new Error(`agentd ended with ${code}:\n${said.join('\n')}`)));
    });
    return server;
  }

  /** Makes a mock Superset fail as told; see its control routes. */
  async fault(env: string, fault: object): Promise<void> {
    const res = await fetch(`${this.mocks[env]}/_mock/faults`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(fault),
    });
    if (!res.ok) throw new Error(`fault: ${res.status} ${await res.text()}`);
  }

  /** How many requests changed something. */
  async committed(env: string, method: string, path: string): Promise<number> {
    const q = new URLSearchParams({ method, path, committed: 'true' });
    const res = await fetch(`${this.mocks[env]}/_mock/count?${q}`);
    return ((await res.json()) as { count: number }).count;
  }

  async stop(): Promise<void> {
    const ended = new Promise((done) => this.process.on('exit', done));
    this.process.kill('SIGTERM');
    await ended;
    rmSync(this.dir, { recursive: true, force: true });
  }
}
