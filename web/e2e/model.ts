import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a model was sent. */
export interface Asked {
  messages: { role: string; content: string | null; tool_calls?: unknown[] }[];
  tools?: { function: { name: string } }[];
}
/** A piece of an answer: text, a call of a tool, or something to wait for before the rest. */
export type Step = string | { tool: string; args: object } | Promise<unknown>;

/** A model over HTTP, as OpenAI's, that says what a test wants and remembers what it was asked. */
export class Model {
  url = '';
  readonly asked: Asked[] = [];
  /** The answer to a question; what a tool answered is the last message of the next one. */
  answer: (q: Asked) => Step[] = () => ['Fine.'];
  #server: Server;
  #calls = 0;

  constructor() {
    this.#server = createServer((q, s) => {
      const body: Buffer[] = [];
      q.on('data', (b: Buffer) => body.push(b));
      q.on('end', () => {
        const asked = JSON.parse(Buffer.concat(body).toString()) as Asked;
        this.asked.push(asked);
        void this.#say(this.answer(asked), s);
      });
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #say(steps: Step[], s: ServerResponse): Promise<void> {
    s.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const send = (delta: object, finish: string | null = null) =>
      s.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    let calls = 0;
    for (const step of steps) {
      if (step instanceof Promise) await step;
      else if (typeof step === 'string') send({ content: step });
      else {
        const head = { index: calls++, id: `call_${++this.#calls}`, type: 'function' };
        send({ tool_calls: [{ ...head, function: { name: step.tool, arguments: JSON.stringify(step.args) } }] });
      }
    }
    send({}, calls > 0 ? 'tool_calls' : 'stop');
    const usage = { prompt_tokens: 1200, completion_tokens: 300, total_tokens: 1500 };
    s.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
  }
}

/** Whether a tool has just answered. */
export const answered = (q: Asked): boolean => q.messages.at(-1)?.role === 'tool';
/** What the person said last. */
export const said = (q: Asked): string => q.messages.findLast((m) => m.role === 'user')?.content ?? '';

/** A promise that is kept when a test says so. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((done) => (open = done));
  return { opened, open };
}
