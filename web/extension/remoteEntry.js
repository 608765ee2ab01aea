// The container that Superset 6.1 expects of an extension: it is initialised, asked for its module, and the module is
// run before the page is drawn. So nothing here waits for anything: a slow answer would leave every page blank.
(() => {
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
    document.head.append(script);
  };
  window.agentd_launcher = { init: () => undefined, get: () => Promise.resolve(() => run()) };
})();
