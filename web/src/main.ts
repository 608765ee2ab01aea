import { mount } from 'svelte';
import AppView from './App.svelte';
import './app.css';
import { Api } from './lib/api';
import { Bridge } from './lib/bridge';
import { loadLang } from './lib/i18n/i18n.svelte';
import { safeHref } from './lib/md/url';
import { readParams } from './lib/params';
import { App } from './lib/state/app.svelte';
import { wear } from './lib/wear';

const app = new App(
  new Api(new URL('api/v1/', document.baseURI).href),
  readParams(location.search),
  undefined,
  (id) => {
    const url = new URL(location.href);
    if (id === null) url.searchParams.delete('c');
    else url.searchParams.set('c', id);
    history.replaceState(null, '', url);
  },
);
const meta = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
app.loginUrl = safeHref(meta('agentd-login'));
if (app.params.embed && window.parent !== window) {
  // A frame belongs to a page that goes on; it begins again as whoever is logged in there now.
  app.restart = () => app.bridge?.send({ type: 'restart' });
  app.bridge = new Bridge({
    parent: window.parent,
    self: window,
    origins: [
      location.origin,
      ...meta('agentd-parents')
        .split(' ')
        .filter((o) => o !== ''),
    ],
    // The referrer of a frame that was loaded again from within is the frame itself; not every browser tells more.
    referrer: location.ancestorOrigins?.[0] ?? document.referrer,
    oncontext: (c) => app.lookAt(c),
    ontheme: (theme) => {
      app.hostTheme = theme.mode === 'dark' ? 'dark' : 'light';
      wear(theme, document.documentElement);
    },
    onvisible: (open) => app.setPanelOpen(open),
    ontoken: (token) => void app.signIn(token),
    onready: () => app.hostReady(),
  });
}
await loadLang(app.i18n.lang);
const target = document.getElementById('app');
// Only while developing: what is built does not have it.
if (import.meta.env.DEV && target && new URLSearchParams(location.search).has('gallery')) {
  (await import('./gallery')).gallery(target);
} else if (target) {
  mount(AppView, { target, props: { app } });
  app.bridge?.start();
  void app.start();
}
