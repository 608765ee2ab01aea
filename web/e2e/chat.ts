/** What a test can do with the place for chats. */
export type ChatCommand = 'open' | 'close' | 'isOpen' | 'dock' | 'name';
export interface ChatPage {
  chatPlace: Record<ChatCommand, () => unknown>;
}

/**
 * Superset 6.1 has no place for chats; the release after it has (SIP-214). This script of a page makes one as the
 * release does, with the React that Superset shares with its extensions: a trigger in the corner, and a panel above it
 * or docked at the side, which is only there while it is open.
 */
export function chatPlace(): void {
  interface React {
    createElement: (type: unknown) => unknown;
  }
  interface ReactDom {
    render: (element: unknown, into: Element) => void;
    unmountComponentAtNode: (from: Element) => void;
  }
  type Scope = Record<string, Record<string, { get: () => Promise<() => unknown> }>>;

  let scope: Scope = {};
  let react: React;
  let dom: ReactDom;
  let chat: { name: string } | undefined;
  let panel: unknown;
  let open = false;
  let mode = 'floating';
  const shared = async (name: string) => (await Object.values(scope[name] ?? {})[0]?.get())?.();
  const corner = 'position:fixed;z-index:1002;right:24px;bottom:24px';
  const box = (id: string, style: string) => {
    const node = document.getElementById(id) ?? document.body.appendChild(document.createElement('div'));
    node.id = id;
    node.style.cssText = style;
    return node;
  };
  const draw = () => {
    const node = box(
      'chat-panel',
      mode === 'panel' ? 'position:fixed;z-index:1002;inset:0 0 0 auto;width:400px' : `${corner};bottom:80px`,
    );
    dom.unmountComponentAtNode(node);
    if (open) dom.render(react.createElement(panel), node);
    else node.remove();
  };
  const change = (to: boolean) => {
    if (open === to) return;
    open = to;
    draw();
  };
  const place = {
    open: () => change(true),
    close: () => change(false),
    isOpen: () => open,
    getDisplayMode: () => mode,
    async registerChat(descriptor: { name: string }, trigger: unknown, itsPanel: unknown) {
      react = (await shared('react')) as React;
      dom = (await shared('react-dom')) as ReactDom;
      panel = itsPanel;
      dom.render(react.createElement(trigger), box('chat-trigger', corner));
      chat = descriptor;
    },
  };
  Object.assign(window, {
    chatPlace: {
      ...place,
      name: () => chat?.name ?? '',
      dock: () => {
        mode = 'panel';
        draw();
      },
    },
  });

  const superset: { now?: object } = {};
  Object.defineProperty(window, 'superset', {
    configurable: true,
    get: () => superset.now,
    set: (api: object) => (superset.now = Object.assign(api, { chat: place })),
  });
  // What Superset shares is told to each extension, and to nobody else.
  let launcher: { init: (s: Scope) => unknown } | undefined;
  Object.defineProperty(window, 'agentd_launcher', {
    configurable: true,
    get: () => launcher,
    set: (container: { init: (s: Scope) => unknown }) => {
      const { init } = container;
      launcher = Object.assign(container, { init: (s: Scope) => init((scope = s)) });
    },
  });
}
