import { version, type Hello, type HostContext, type Init, type ToFrame, type ToHost } from './protocol';
import { style } from './style';
import { contextNow, named, pathNow, themeNow } from './superset';

// <script src="…/embed.js" data-agentd="/agentd/" defer></script>
// Draws a button; the frame is made when it is first opened. data-label, data-hide-on (prefixes of paths below the
// application root, separated by spaces) and data-handover (address of a token that says who is logged in) are optional.

type Command = 'open' | 'close' | 'toggle' | 'destroy';
interface Handle {
  cmd: (c: Command) => void;
  /** What is on the page; an event "agentd" on it says with `detail` that the panel has opened or closed. */
  element: HTMLElement;
}
const holder = window as unknown as { agentd?: Handle };

/** A name that comes with its object lets the frame say once what it looks at, not twice. */
const nameMs = 600;

function load(script: HTMLScriptElement): void {
  const { dataset } = script;
  const base = new URL(dataset.agentd ?? './', script.src);
  const { handover, hideOn = '/login' } = dataset;
  const label = dataset.label ?? (/^ru/.test(contextNow().lang ?? '') ? 'Спросить агента' : 'Ask the agent');
  const life = new AbortController();
  const on = (t: EventTarget | undefined, event: string, f: (e: never) => unknown) =>
    t?.addEventListener(event, f as EventListener, { signal: life.signal });
  const host = document.createElement('agentd-launcher');
  const root = host.attachShadow({ mode: 'closed' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  const button = Object.assign(document.createElement('button'), { ariaLabel: label, ariaExpanded: 'false' });
  const count = document.createElement('span');
  button.append(count);
  root.append(button);

  // Loads once it is on the page, which is when it is first opened.
  const frame = Object.assign(document.createElement('iframe'), {
    title: label,
    allow: 'clipboard-write',
    sandbox: 'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads',
    referrerPolicy: 'strict-origin',
    src: new URL('agent?embed=1', base).href,
  });
  let port: MessagePort | undefined;
  let opened = false;
  const post = (m: ToFrame) => port?.postMessage(m);

  function show(open: boolean): void {
    if (open === opened) return;
    opened = open;
    if (!frame.isConnected) root.append(frame);
    frame.classList.toggle('open', open);
    button.ariaExpanded = `${open}`;
    post({ type: 'visibility', open });
    (open ? frame : button).focus();
    host.dispatchEvent(new CustomEvent('agentd', { detail: open }));
  }

  /** Says who is logged in at Superset. While that cannot be asked nothing is said. */
  async function token(address: string): Promise<void> {
    try {
      const res = await fetch(address, { cache: 'no-store' });
      post({ type: 'token', token: res.status === 401 ? null : ((await res.json()) as { token: string }).token });
    } catch {
      // The frame asks again.
    }
  }

  function heard(m: ToHost): void {
    if (m.type === 'close') show(false);
    else if (m.type === 'unread') count.textContent = m.n ? `${+m.n}` : '';
    else if (m.type === 'title') frame.title = m.title;
    // Kept within the window by the style.
    else if (m.type === 'resize') frame.style.cssText = `--w:${+m.w}px;--h:${+m.h}px`;
    else if (m.type === 'look') void look(true);
    else if (m.type === 'restart') frame.src += '';
    else if (m.type === 'needToken' && handover) void token(handover);
    // Only the frame's own page, whatever was asked for.
    else if (m.type === 'openFull') open(new URL(`agent?${m.query}`, base), '_blank', 'noopener');
    else if (m.type === 'navigate') {
      const url = new URL(m.url, location.href);
      if (url.origin === location.origin) location.assign(url.href);
    }
  }

  function met(e: MessageEvent): void {
    const m = e.data as Partial<Hello> | null;
    const known = e.source === frame.contentWindow && e.origin === base.origin;
    if (!known || m?.type !== 'agentd:hello' || m.v !== version) return;
    port?.close();
    const { port1, port2 } = new MessageChannel();
    port = port1;
    port.onmessage = (p: MessageEvent<ToHost>) => heard(p.data);
    // Names are found anew: who looks at this frame may not be who looked at the last one.
    const init: Init = {
      type: 'agentd:init',
      v: version,
      context: contextNow(),
      theme: themeNow(),
      handover: !!handover,
    };
    frame.contentWindow?.postMessage(init, base.origin, [port2]);
    count.textContent = '';
    void look(true);
  }

  let looked = '';
  async function look(again = false): Promise<void> {
    const now = contextNow();
    const key = JSON.stringify(now);
    if (key === looked && !again) return;
    looked = key;
    host.style.display = hideOn.split(' ').some((p) => p && pathNow().startsWith(p)) ? 'none' : '';
    const tell = (more: HostContext | null) => {
      if (looked !== key) return; // the user is elsewhere by now
      post({ type: 'context', context: { ...now, ...more } });
    };
    const late = again ? 0 : setTimeout(tell, nameMs, null);
    const more = await named(now);
    clearTimeout(late);
    tell(more);
  }

  let mode = themeNow().mode;
  const timer = setInterval(() => {
    void look();
    const theme = themeNow();
    if (theme.mode !== mode) post({ type: 'theme', theme });
    mode = theme.mode;
  }, 1000);
  on(window, 'message', met);
  on(button, 'keydown', (e: KeyboardEvent) => e.key === 'Escape' && show(false));
  on((window as unknown as { navigation?: EventTarget }).navigation, 'currententrychange', () => void look());
  on(button, 'click', () => show(!opened));

  holder.agentd = {
    element: host,
    cmd(c) {
      if (c === 'destroy') {
        life.abort();
        clearInterval(timer);
        port?.close();
        host.remove();
        delete holder.agentd;
      } else show(c === 'open' || (c === 'toggle' && !opened));
    },
  };
  document.body.append(host);
  void look();
}

const script = document.currentScript;
// A second tag does nothing: one button is enough. Reports and screenshots get none.
if (
  script instanceof HTMLScriptElement &&
  !holder.agentd &&
  /^(0|false|)$/.test(new URLSearchParams(location.search).get('standalone') ?? '')
) {
  if (document.body) load(script);
  else addEventListener('DOMContentLoaded', () => load(script), { once: true });
}
