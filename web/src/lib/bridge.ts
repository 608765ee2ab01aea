import { version, type HostContext, type HostTheme, type Init, type ToHost } from '../embed/protocol';

export interface BridgeOptions {
  /** The window that embeds the page, and the page's own. */
  parent: Window;
  self: Window;
  /** Origins that may embed it: the page's own, and those that the server lists. */
  origins: string[];
  referrer: string;
  oncontext: (c: HostContext) => void;
  ontheme: (theme: HostTheme) => void;
  onvisible: (open: boolean) => void;
  /** Who is logged in there says the token; null is nobody. */
  ontoken: (token: string | null) => void;
  /** The two have met. */
  onready: () => void;
}

/**
 * The frame's end of the talk with the page that embeds it. It says hello to one origin, and takes one answer, from
 * the window and the origin that it expects. Whatever comes later comes over the port of that answer.
 */
export class Bridge {
  #port: MessagePort | null = null;
  /** Whether the host has a way to sign the user in. */
  handover = false;

  constructor(private readonly o: BridgeOptions) {}

  start(): void {
    const origin = originOf(this.o.referrer);
    // Nobody on the list: the page works by itself and tells nobody anything.
    if (origin === null || !this.o.origins.includes(origin)) return;
    const onMessage = (e: MessageEvent) => {
      const m = e.data as Partial<Init> | null;
      if (e.source !== this.o.parent || e.origin !== origin || m?.type !== 'agentd:init' || m.v !== version) return;
      const port = e.ports[0];
      if (!port) return;
      this.o.self.removeEventListener('message', onMessage);
      this.#port = port;
      port.onmessage = (p: MessageEvent<unknown>) => this.#hear(p.data);
      this.handover = m.handover === true;
      this.#hear({ type: 'context', context: m.context });
      this.#hear({ type: 'theme', theme: m.theme });
      this.o.onready();
    };
    this.o.self.addEventListener('message', onMessage);
    this.o.parent.postMessage({ type: 'agentd:hello', v: version }, origin);
  }

  send(m: ToHost): void {
    this.#port?.postMessage(m);
  }

  #hear(data: unknown): void {
    const m = data as { type?: unknown } & Partial<Record<string, unknown>>;
    if (m?.type === 'context' && typeof m.context === 'object' && m.context !== null) this.o.oncontext(m.context);
    else if (m?.type === 'theme' && typeof m.theme === 'object' && m.theme !== null) this.o.ontheme(m.theme);
    else if (m?.type === 'visibility') this.o.onvisible(m.open === true);
    else if (m?.type === 'token' && (typeof m.token === 'string' || m.token === null)) this.o.ontoken(m.token);
  }
}

function originOf(url: string): string | null {
  try {
    const { origin } = new URL(url);
    return origin === 'null' ? null : origin;
  } catch {
    return null;
  }
}
