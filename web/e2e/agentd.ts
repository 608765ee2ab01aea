import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const binary = process.env.AGENTD_BIN ?? join(import.meta.dirname, '../../bin/agentd');
const password = 'admin'; // of every user of the mock Supersets: the name
const modelFlags = (url: string) => ['--llm.provider', 'openai', '--llm.model', 'scripted', '--llm.base-url', url];

export interface Demo {
  /** Address of a model that takes the place of the offline planner. */
  model?: string;
  flags?: string[];
}

/** The built server in a process and a data directory of its own. It may die and come back at the same address. */
export class Agentd {
  /** Address of the page. */
  page = '';
  readonly mocks: Record<string, string> = {};
  #child: ChildProcess | undefined;
  #dir = mkdtempSync(join(tmpdir(), 'agentd-e2e-'));

  private constructor(private readonly args: (dir: string) => string[]) {}

  /** With mock Supersets inside, and one user. */
  static demo(o: Demo = {}): Promise<Agentd> {
    const flags = [...(o.model ? modelFlags(o.model) : []), ...(o.flags ?? [])];
    return new Agentd((dir) => ['demo', '--data-dir', join(dir, 'data'), ...flags]).start();
  }

  /** As a configuration says. */
  static serve(config: string[], model: string): Promise<Agentd> {
    return new Agentd((dir) => {
      const file = join(dir, 'agentd.yaml');
      writeFileSync(file, [...config, `data_dir: '${join(dir, 'data')}'`, ''].join('\n'));
      return ['serve', '--config', file, ...modelFlags(model)];
    }).start();
  }

  /** A mock Superset alone; `page` is its address. `fixture` is its own content, in YAML. */
  static mock(fixture = '{}'): Promise<Agentd> {
    return new Agentd((dir) => {
      const file = join(dir, 'fixture.yaml');
      writeFileSync(file, fixture);
      return ['mock-superset', '--fixture', file];
    }).start();
  }

  /** The server without the page's path. */
  get base(): string {
    return this.page.replace(/\/agent$/, '');
  }

  /** Starts it, or starts it again where it was. */
  async start(): Promise<this> {
    const listen = this.page ? new URL(this.page).host : '127.0.0.1:0';
    const args = [...this.args(this.#dir), '--listen', listen];
    // agentd takes every AGENTD_… for a key of its configuration.
    const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith('AGENTD_')));
    const child = spawn(binary, args, { env: { ...env, SUPERSET_PASSWORD: password } });
    this.#child = child;
    const said: string[] = [];
    const alone = args[0] === 'mock-superset';
    await new Promise<void>((ready, failed) => {
      const line = (text: string) => {
        said.push(text);
        const mock = /^mock-superset (\w+) ready at (\S+)/.exec(text);
        if (mock?.[1] && mock[2]) this.mocks[mock[1]] = mock[2];
        const page = /^agentd ready at (\S+)/.exec(text)?.[1] ?? (alone ? mock?.[2] : undefined);
        if (!page) return;
        this.page = page;
        ready();
      };
      createInterface({ input: child.stdout }).on('line', line);
      createInterface({ input: child.stderr }).on('line', line);
      child.on('error', failed);
      child.on('exit', (code) => failed(new Error(`agentd ended with ${code}:\n${said.join('\n')}`)));
    });
    return this;
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

  /** Ends the process: as an operator does, or as a power cut. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.on('exit', done));
    child.kill(signal);
    await ended;
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM');
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
