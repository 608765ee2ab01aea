// The container that Superset 6.1 expects of an extension: it is initialised, asked for its module, and the module is
// run before the page is drawn. So nothing here waits for anything: a slow answer would leave every page blank.
(() => {
  let shared = {};
  const settings = () => {
    try {
      const { common } = JSON.parse(document.getElementById('app').dataset.bootstrap);
      // An administrator may say where agentd is: COMMON_BOOTSTRAP_OVERRIDES_FUNC = lambda data: {"agentd": {"base": …}}
      return common.agentd ?? { base: `${(common.application_root ?? '').replace(/\/$/, '')}/agentd/` };
    } catch {
      return { base: '/agentd/' };
    }
  };
  const run = () => {
    const { base, handover } = settings();
    const script = document.createElement('script');
    script.src = `${base}embed.js`;
    script.dataset.agentd = base;
    if (handover) script.dataset.handover = handover;
    // Where Superset has a place for chats (after 6.1) the button and the frame go there; else they stand by themselves.
    const { chat } = window.superset ?? {};
    if (chat?.registerChat) script.onload = () => void register(chat, window.agentd).catch(console.error);
    document.head.append(script);
  };

  /** Calls `moved` with where an element is, now and whenever that changes. Returns what ends it. */
  const follow = (node, moved) => {
    const tell = () => moved(node.getBoundingClientRect());
    const sizes = new ResizeObserver(tell);
    sizes.observe(node);
    sizes.observe(document.documentElement);
    addEventListener('scroll', tell, true);
    return () => {
      sizes.disconnect();
      removeEventListener('scroll', tell, true);
    };
  };

  // What Superset draws are two empty boxes. Button and frame are laid over them and stay on the page, since a frame that
  // is taken off it, as Superset does with a closed panel, would lose what it shows.
  const register = async (chat, launcher) => {
    const [react] = Object.values(shared.react ?? {});
    if (!launcher || !react) return; // no button on this page, or nothing to draw with
    const { createElement } = (await react.get())();
    const { style } = launcher.element;
    const box = (size, placed, gone) => {
      let end;
      const ref = (node) => {
        end?.();
        end = node ? follow(node, placed) : undefined;
        // A panel that moves between the corner and the side goes and comes in one step.
        if (!node) setTimeout(() => end ?? gone());
      };
      return () => createElement('div', { ref, style: size() });
    };
    const offscreen = () => style.setProperty('--agentd-button', '-99px auto auto -99px');
    const Trigger = box(
      () => ({ width: 48, height: 48 }),
      ({ top, left }) => style.setProperty('--agentd-button', `${top}px auto auto ${left}px`),
      offscreen,
    );
    const Panel = box(
      () =>
        chat.getDisplayMode?.() === 'panel'
          ? { width: '100%', height: '100%' }
          : { width: 'min(440px, calc(100vw - 48px))', height: 'min(720px, calc(100vh - 120px))' },
      ({ top, left, width, height }) => {
        style.setProperty('--agentd-frame', `${top}px auto auto ${left}px`);
        style.setProperty('--agentd-w', `${width}px`);
        style.setProperty('--agentd-h', `${height}px`);
        launcher.cmd('open');
      },
      () => launcher.cmd('close'),
    );
    style.setProperty('--agentd-z', '1003'); // Superset's boxes are at 1002
    offscreen(); // until it is drawn: another extension's chat may be the one that is shown
    launcher.element.addEventListener('agentd', (e) => (e.detail ? chat.open() : chat.close()));
    chat.registerChat({ id: 'agentd.launcher', name: 'agentd' }, Trigger, Panel);
  };

  window.agentd_launcher = {
    init: (scope) => void (shared = scope ?? {}),
    get: () => Promise.resolve(() => run()),
  };
})();
