import { version, type HostContext, type Init, type ToFrame, type ToHost } from './protocol';
import { style } from './style';
import { contextNow, named, themeNow } from './superset';

// <script src="…/embed.js" data-agentd="/agentd/" defer></script>
// Draws a button; the frame is made when it is first opened. data-label, data-hide-on (prefixes of paths, separated
// by spaces) and data-handover (address of a token for a frame of another origin) are optional.

type Command = 'open' | 'close' | 'toggle' | 'destroy';
interface Handle {
  cmd: (c: Command) => void;
}
const holder = window as unknown as { agentd?: Handle };

function load(script: HTMLScriptElement): void {
  const base = new URL(script.dataset.agentd ?? './', script.src);
  const hideOn = (script.dataset.hideOn ?? '/login').split(' ').filter((p) => p !== '');
  const label = script.dataset.label ?? (contextNow().lang?.startsWith('ru') ? 'Спросить агента' : 'Ask the agent');

  const host = document.createElement('agentd-launcher');
  const root = host.attachShadow({ mode: 'closed' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];

  const button = document.createElement('button');
  button.type = 'button';
  button.setAttribute('aria-label', label);
  button.setAttribute('aria-expanded', 'false');
  const count = document.createElement('span');
  count.className = 'count';
  button.append(spark(), count);
  root.append(button);

  let frame: HTMLIFrameElement | null = null;
  let port: MessagePort | null = null;
  let opened = false;
  let context: HostContext = contextNow();
  const post = (m: ToFrame) => port?.postMessage(m);

  function makeFrame(): HTMLIFrameElement {
    const f = document.createElement('iframe');
    f.title = label;
    f.allow = 'clipboard-write';
    f.setAttribute(
      'sandbox',
      'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads',
    );
    f.referrerPolicy = 'strict-origin';
    const url = new URL('agent', base);
    url.searchParams.set('embed', '1');
    f.src = url.href;
    root.append(f);
    return f;
  }

  function show(open: boolean): void {
    if (open === opened) return;
    opened = open;
    if (open) frame ??= makeFrame();
    frame?.classList.toggle('open', open);
    button.setAttribute('aria-expanded', String(open));
    post({ type: 'visibility', open });
    if (open) frame?.focus();
    else button.focus();
  }

  async function token(): Promise<void> {
    const address = script.dataset.handover;
    if (!address) return;
    try {
      const res = await fetch(address, { headers: { Accept: 'application/json' }, cache: 'no-store' });
      const { token } = (await res.json()) as { token?: unknown };
      if (res.ok && typeof token === 'string') post({ type: 'token', token });
    } catch {
      // The frame goes on saying that nobody is signed in.
    }
  }

  function heard(m: ToHost): void {
    if (m.type === 'close') show(false);
    else if (m.type === 'unread') count.textContent = m.n > 0 ? String(m.n) : '';
    else if (m.type === 'needToken') void token();
    else if (m.type === 'openFull') {
      // Only the frame's own page, whatever was asked for.
      const url = new URL('agent', base);
      url.search = m.query;
      url.searchParams.delete('embed');
      window.open(url.href, '_blank', 'noopener');
    } else if (m.type === 'navigate') {
      const url = new URL(m.url, location.href);
      if (url.origin === location.origin && /^https?:$/.test(url.protocol)) location.assign(url.href);
    }
  }

  function met(e: MessageEvent): void {
    if (!frame || e.source !== frame.contentWindow || e.origin !== base.origin) return;
    const m = e.data as { type?: unknown; v?: unknown } | null;
    if (m?.type !== 'agentd:hello' || m.v !== version) return;
    port?.close();
    const channel = new MessageChannel();
    port = channel.port1;
    port.onmessage = (p: MessageEvent<ToHost>) => heard(p.data);
    const handover = script.dataset.handover !== undefined;
    const init: Init = { type: 'agentd:init', v: version, context, theme: themeNow(), handover };
    frame.contentWindow?.postMessage(init, base.origin, [channel.port2]);
  }

  let looked = '';
  async function look(): Promise<void> {
    const now = contextNow();
    const key = JSON.stringify(now);
    if (key === looked) return;
    looked = key;
    context = now;
    host.hidden = hideOn.some((p) => location.pathname.startsWith(p));
    host.style.display = host.hidden ? 'none' : '';
    // A name comes with its object, so that the frame says once what it looks at, not twice.
    const asked = named(now);
    const more = await Promise.race([asked, new Promise<null>((done) => setTimeout(done, 600, null))]);
    if (looked !== key) return; // the user is elsewhere by now
    post({ type: 'context', context: (context = { ...now, ...more }) });
    const late = more ? null : await asked;
    if (late && looked === key) post({ type: 'context', context: (context = { ...now, ...late }) });
  }

  let theme = themeNow();
  const timer = setInterval(() => {
    void look();
    if (themeNow() !== theme) post({ type: 'theme', mode: (theme = themeNow()) });
  }, 1000);
  const navigation = (window as unknown as { navigation?: EventTarget }).navigation;
  const onNavigate = () => void look();
  const onKey = (e: KeyboardEvent) => {
    if (e.key === 'Escape' && opened && e.target === button) show(false);
  };
  addEventListener('message', met);
  addEventListener('keydown', onKey);
  navigation?.addEventListener('currententrychange', onNavigate);
  button.addEventListener('click', () => show(!opened));

  holder.agentd = {
    cmd(c) {
      if (c === 'open') show(true);
      else if (c === 'close') show(false);
      else if (c === 'toggle') show(!opened);
      else if (c === 'destroy') {
        clearInterval(timer);
        removeEventListener('message', met);
        removeEventListener('keydown', onKey);
        navigation?.removeEventListener('currententrychange', onNavigate);
        port?.close();
        host.remove();
        delete holder.agentd;
      }
    },
  };
  document.body.append(host);
  void look();
}

function spark(): SVGElement {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(ns, 'path');
  path.setAttribute('d', 'M10 2.5l1.9 5.6 5.6 1.9-5.6 1.9L10 17.5l-1.9-5.6L2.5 10l5.6-1.9z');
  svg.append(path);
  return svg;
}

const standalone = new URLSearchParams(location.search).get('standalone') ?? '0';
const script = document.currentScript;
const wanted = standalone === '0' || standalone === '' || standalone === 'false';
// A second tag does nothing: one button is enough.
if (script instanceof HTMLScriptElement && !holder.agentd && wanted) {
  if (document.body) load(script);
  else addEventListener('DOMContentLoaded', () => load(script), { once: true });
}
