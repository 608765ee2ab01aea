import { mount } from 'svelte';
import './app.css';
import Gallery from './Gallery.svelte';
import { Api } from './lib/api';
import { readParams } from './lib/params';
import { App } from './lib/state/app.svelte';
import { readEvent, type WireEvent } from './lib/wire';
import { everything } from './scenes';

// Every event of the shared fixtures on one page, without a server: `npm run dev`, then /agent?gallery=1. In place of
// the 1 stands the name of what lies above or over them. It is not part of what is built.

const files = import.meta.glob('../../internal/httpapi/testdata/events/*.json', { eager: true, import: 'default' });
const events = Object.values(files)
  .flatMap((list) => list as unknown[])
  .map((e) => readEvent(e))
  .filter((e): e is WireEvent => e !== null);

const later = () => new Date(Date.now() + 3_600_000).toISOString();

/** The one thing that this server has: a stored result. */
const fetcher = ((url: unknown) => {
  if (String(url).includes('/result-gone')) return Promise.resolve(Response.json({ code: 'gone' }, { status: 410 }));
  if (!String(url).includes('/result')) return Promise.reject(new TypeError('there is no server here'));
  const rows = Array.from({ length: 50 }, (_, n) => [
    n + 1,
    `9007199254740${990 + n}`,
    `Region ${n + 1}`,
    n % 7 ? 'yes' : null,
  ]);
  const columns = [{ name: 'id' }, { name: 'revenue', exact: true }, { name: 'region' }, { name: 'active' }];
  return Promise.resolve(
    Response.json({ columns, rows, total: 12438, next_cursor: 'b', eof: false, expires_at: later() }),
  );
}) as typeof fetch;

const card = { conversation_id: 'c1', created_at: new Date().toISOString(), expires_at: later() };

/** What can lie above the conversation, or over it, by name. */
const over: Record<string, (app: App) => void> = {
  '1': () => undefined,
  empty: (app) => app.newConversation(),
  prod: (app) => (app.envId = 'ss-prod'),
  offline: (app) => (app.online = false),
  reconnecting: (app) => Object.assign(app.session, { link: 'reconnecting', attempt: 2 }),
  'signed-out': (app) => Object.assign(app, { blocked: 'signed-out', loginUrl: 'https://bi.example.com/login/' }),
  'other-user': (app) => (app.blocked = 'other-user'),
  notice: (app) => app.notify(app.i18n.t('envUnknown', { env: 'ss-old' })),
  env: (app) => app.chooseEnv('ss-prod'),
  keys: () => undefined,
  settings: () => undefined,
  inbox: (app) =>
    (app.inbox = [
      {
        ...card,
        confirmation_id: 'q1',
        tool: 'delete_dashboard',
        env_id: 'ss-prod',
        dangerous: true,
        preview: { object: 'Sales overview' },
      },
      {
        ...card,
        confirmation_id: 'q2',
        tool: 'update_chart',
        env_id: 'ss-dev',
        dangerous: false,
        preview: { object: 'Revenue' },
      },
      { ...card, confirmation_id: 'q3', tool: 'run_sql', dangerous: false, preview: {}, own: false },
    ]),
  result: () => undefined,
  'result-gone': () => undefined,
};

/** The names, for those who take pictures of all. */
export const names = Object.keys(over);

export function gallery(target: HTMLElement): void {
  const app = new App(new Api('/', fetcher), readParams(location.search));
  app.me = { user: 'anna', roles: [] };
  app.environments = [
    { id: 'ss-dev', title: 'Development', class: 'dev' },
    { id: 'ss-prod', title: 'Production', class: 'prod' },
  ];
  app.envId = 'ss-dev';
  app.list = ['Sales overview', 'Why is the chart of the revenue in the northern region empty?'].map((title, n) => ({
    id: n === 0 ? 'gallery' : 'c1',
    title,
    updated_at: new Date().toISOString(),
    open_confirmations: n,
  }));
  app.listLoaded = true;
  app.session.id = 'gallery';
  app.session.conversation = everything(events);
  const name = new URLSearchParams(location.search).get('gallery') ?? '1';
  over[name]?.(app);
  mount(Gallery, { target, props: { app, over: name } });
}
