import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '../..');
const files = join(root, 'test/superset/embed');
const binary = process.env.AGENTD_BIN ?? join(root, 'bin/agentd');
const instance = 'agentd-embed';

/** How agentd is put beside a real Superset; see docs/embedding.md. */
export interface Way {
  /** With an origin of its own and the hand-over, or behind one proxy. */
  own?: boolean;
  /** The button comes by an extension instead of a template. */
  extension?: boolean;
  /** Superset's application root, behind the proxy. */
  below?: '/bi';
}

/** The script that starts real instances; without it there is nothing to test against. */
export const script = process.env.AGENTD_TEST_SUPERSET_EMBED ?? '';

/** A real Superset with agentd beside it, in processes of its own. */
export class Stand {
  /** What a user opens. */
  superset = '';
  /** Where agentd is for the user. */
  agentd = '';
  /** What agentd wrote. */
  said: string[] = [];
  readonly secret = 'a secret of the tests, 32 bytes or more';
  #children: ChildProcess[] = [];
  #dir = mkdtempSync(join(tmpdir(), 'agentd-embed-'));

  static async start(way: Way): Promise<Stand> {
    const stand = new Stand();
    try {
      await (way.own ? stand.#ownOrigin() : stand.#oneOrigin(way));
    } catch (e) {
      await stand.stop();
      throw e;
    }
    return stand;
  }

  /** A reverse proxy serves both; Superset's own cookie says who it is, and agentd acts as that user. */
  async #oneOrigin({ extension = false, below = '' }: { extension?: boolean; below?: string }): Promise<void> {
    const [front, back] = [await freePort(), await freePort()];
    const env: Record<string, string> = below ? { SUPERSET_APP_ROOT: below } : {};
    if (extension) {
      this.#pack();
      env.AGENTD_EMBED_EXTENSIONS = this.#dir;
    }
    const superset = await this.#up(extension ? 'extension_config.py' : 'superset_embed_config.py', env);
    this.superset = `http://127.0.0.1:${front}${below}`;
    this.agentd = `${this.superset}/agentd`;
    await this.#serve([
      `listen: 127.0.0.1:${back}`,
      `base_path: ${below}/agentd/`,
      'trusted_proxies: [127.0.0.1]',
      'auth: {mode: superset, superset: {environment: ss, cache: 1s}}',
      'environments:',
      `  - {id: ss, title: Test, class: dev, base_url: '${superset}${below}', public_url: '${this.superset}', auth: {mode: forward_cookie}}`,
    ]);
    const ports = [String(front), new URL(superset).port, String(back)];
    await this.#run(process.execPath, [join(files, 'proxy.mjs'), ...ports, `${below}/agentd/`]);
  }

  /** Two hosts of one site. Superset signs who is logged in there; agentd works by an account of its own. */
  async #ownOrigin(): Promise<void> {
    const port = await freePort();
    this.agentd = `http://agentd.bi.localhost:${port}`;
    const superset = await this.#up('superset_embed_config.py', {
      AGENTD_EMBED_ORIGIN: this.agentd,
      AGENTD_EMBED_SECRET: this.secret,
    });
    this.superset = `http://bi.localhost:${new URL(superset).port}`;
    await this.#serve([
      `listen: 127.0.0.1:${port}`,
      'auth:',
      '  mode: superset',
      '  superset: {environment: ss, cache: 1s}',
      `  handover: {secret_env: HANDOVER_SECRET, audience: '${this.agentd}'}`,
      'environments:',
      `  - {id: ss, title: Test, class: dev, base_url: '${superset}', public_url: '${this.superset}', auth: {mode: service, username: admin, password_env: SUPERSET_PASSWORD}}`,
      `web: {frame_ancestors: ['${this.superset}']}`,
    ]);
  }

  /** Starts Superset anew, so that it reads the configuration file and the variables of this way. */
  async #up(hook: string, env: Record<string, string>): Promise<string> {
    await sh(['down', instance]).catch(() => undefined); // it may never have been there
    const said = await sh(['up', instance, '--profile', 'dev'], {
      ...env,
      AGENTD_SUPERSET_CONFIG: join(files, hook),
    });
    const url = /=(http:\S+)\s*$/.exec(said)?.[1];
    if (!url) throw new Error(`superset.sh said ${said}`);
    if (hook === 'extension_config.py') await sh(['exec', instance, 'superset', 'init'], env);
    return url;
  }

  #pack(): void {
    execFileSync(process.execPath, [join(root, 'web/scripts/supx.mjs'), join(this.#dir, 'agentd-launcher.supx')]);
  }

  async #serve(config: string[]): Promise<void> {
    const file = join(this.#dir, 'agentd.yaml');
    writeFileSync(file, [...config, `data_dir: '${join(this.#dir, 'data')}'`, ''].join('\n'));
    await this.#run(binary, ['serve', '--config', file]);
  }

  /** Starts a program and waits until it says that it is ready. */
  async #run(program: string, args: string[]): Promise<void> {
    // Its own variables only: agentd takes every AGENTD_… for a key of its configuration.
    const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith('AGENTD_')));
    const child = spawn(program, args, { env: { ...env, SUPERSET_PASSWORD: 'admin', HANDOVER_SECRET: this.secret } });
    this.#children.push(child);
    await new Promise<void>((ready, failed) => {
      const line = (text: string) => {
        this.said.push(text);
        if (/ready at http/.test(text)) ready();
      };
      createInterface({ input: child.stdout }).on('line', line);
      createInterface({ input: child.stderr }).on('line', line);
      child.on('error', failed);
      child.on('exit', (code) => failed(new Error(`${program} ended with ${code}:\n${this.said.join('\n')}`)));
    });
  }

  async stop(): Promise<void> {
    for (const child of this.#children.splice(0).reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((done) => child.on('exit', done));
      child.kill('SIGTERM');
      await ended;
    }
    await sh(['down', instance]).catch(() => undefined);
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

const sh = (args: string[], env: Record<string, string> = {}): Promise<string> =>
  new Promise((done, failed) => {
    execFile(script, args, { env: { ...process.env, ...env } }, (err, out, errs) => {
      if (err) failed(new Error(`superset.sh ${args.join(' ')}: ${err.message}\n${errs}`));
      else done(out);
    });
  });

function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const s = createServer();
    s.on('error', failed);
    s.listen(0, '127.0.0.1', () => {
      const { port } = s.address() as AddressInfo;
      s.close(() => done(port));
    });
  });
}
