import { mount } from 'svelte';
import AppView from './App.svelte';
import './app.css';
import { Api } from './lib/api';
import { readParams } from './lib/params';
import { App } from './lib/state/app.svelte';
import { readEvent, type WireEvent } from './lib/wire';
import { everything } from './scenes';

// Every event of the shared fixtures on one page, without a server: `npm run dev`, then /agent?gallery=1. It is not
// part of what is built.

const files = import.meta.glob('../../internal/httpapi/testdata/events/*.json', { eager: true, import: 'default' });
const events = Object.values(files)
  .flatMap((list) => list as unknown[])
  .map((e) => readEvent(e))
  .filter((e): e is WireEvent => e !== null);

export function gallery(target: HTMLElement): void {
  const nobody = (() => Promise.reject(new TypeError('there is no server here'))) as typeof fetch;
  const app = new App(new Api('/', nobody), readParams(location.search));
  app.environments = [
    { id: 'ss-dev', title: 'Development', class: 'dev' },
    { id: 'ss-prod', title: 'Production', class: 'prod' },
  ];
  app.session.id = 'gallery';
  app.session.conversation = everything(events);
  mount(AppView, { target, props: { app } });
}
