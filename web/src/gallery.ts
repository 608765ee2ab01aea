import { mount } from 'svelte';
import AppView from './App.svelte';
import './app.css';
import { Api } from './lib/api';
import { empty, type Conversation } from './lib/conversation';
import { reduce } from './lib/reduce';
import { readParams } from './lib/params';
import { App } from './lib/state/app.svelte';
import { readEvent, type WireEvent } from './lib/wire';

// Every event of the shared fixtures on one page, without a server: `npm run dev`, then /agent?gallery=1. It is not
// part of what is built.

const files = import.meta.glob('../../internal/httpapi/testdata/events/*.json', { eager: true, import: 'default' });

/** Each fixture is shown in a run of its own, so that one does not end or change another. */
function everything(): Conversation {
  const order = ['message', 'tool_start', 'confirm_required'];
  const rank = (path: string) =>
    (order.findIndex((o) => path.endsWith(`/${o}.json`)) + order.length + 1) % (order.length + 1);
  const events = Object.entries(files)
    .toSorted(([a], [b]) => rank(a) - rank(b))
    .flatMap(([, list]) => list as unknown[])
    .map((e) => readEvent(e))
    .filter((e): e is WireEvent => e !== null && e.type !== 'run_started' && e.type !== 'reset');
  const own = events.map((e, n) => ({
    ...e,
    seq: n + 1,
    run_id: `run_${n}`,
    ...('call_id' in e ? { call_id: `${e.type}_${n}` } : {}),
    ...('confirmation_id' in e && e.type === 'confirm_required' ? { confirmation_id: `card_${n}` } : {}),
    ...('message_id' in e ? { message_id: `message_${n}` } : {}),
  })) as WireEvent[];
  return own.reduce(reduce, empty);
}

export function gallery(target: HTMLElement): void {
  const nobody = (() => Promise.reject(new TypeError('there is no server here'))) as typeof fetch;
  const app = new App(new Api('/', nobody), readParams(location.search));
  app.environments = [
    { id: 'ss-dev', title: 'Development', class: 'dev' },
    { id: 'ss-prod', title: 'Production', class: 'prod' },
  ];
  app.session.id = 'gallery';
  app.session.conversation = everything();
  mount(AppView, { target, props: { app } });
}
