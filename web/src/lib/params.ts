import type { View } from './wire';

// A link can be written by anybody. What is not well-formed is dropped and named; nothing in it is ever sent by itself.

const types = ['dashboard', 'chart', 'dataset', 'database', 'sqllab', 'migration'];
// A number, a uuid, or a slug in any script; nothing that could be a sentence.
const idShape = /^[\p{L}\p{N}_-]{1,255}$/u;
const envShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const conversationShape = /^[A-Za-z0-9_-]{1,64}$/;
const control = /\p{Cc}/u;

export interface Params {
  view: View;
  /** Not yet compared with the environments that the server lists. */
  envId?: string;
  conversation?: string;
  lang?: 'en' | 'ru';
  theme?: 'light' | 'dark';
  /** Fills the composer, is not sent. */
  draft: string;
  embed: boolean;
  /** Names of the parameters that were dropped. */
  dropped: string[];
}

type Get = (name: string) => string | undefined;

const text = (max: number) => (v: string) => [...v].length <= max && !control.test(v);

/** Takes a value that is well-formed; the name of any other is noted. */
const taker =
  (get: Get, dropped: string[]) =>
  (name: string, ok: (v: string) => boolean): string | undefined => {
    const v = get(name);
    if (v === undefined || v === '') return undefined;
    if (ok(v)) return v;
    dropped.push(name);
    return undefined;
  };

/** Reads what a page says it shows, value by value. Used for addresses and for the words of an embedding page. */
export function readView(get: Get): { view: View; dropped: string[] } {
  const dropped: string[] = [];
  const take = taker(get, dropped);
  const view: View = {};
  const objectType = take('objectType', (v) => types.includes(v));
  const objectId = take('objectId', (v) => idShape.test(v));
  const objectName = take('objectName', text(120));
  const route = take('route', (v) => /^\/(?!\/)/.test(v) && text(512)(v));
  if (objectType) view.objectType = objectType;
  if (objectType && objectId) view.objectId = objectId;
  if (objectType && objectName) view.objectName = objectName;
  if (route) view.route = route;
  // An id of nothing is not an id; where the type was wrong, that is already said.
  if (objectId && !objectType && !dropped.includes('objectType')) dropped.push('objectId');
  return { view, dropped };
}

/** Reads the query of the page's address. Never throws. */
export function readParams(search: string): Params {
  const q = new URLSearchParams(search);
  // A value that is there twice means nothing: it is dropped as a malformed one is.
  const get: Get = (name) => (q.getAll(name).length > 1 ? '\0' : (q.get(name) ?? undefined));
  const { view, dropped } = readView(get);
  const take = taker(get, dropped);
  return {
    view,
    envId: take('envId', (v) => envShape.test(v)),
    conversation: take('c', (v) => conversationShape.test(v)),
    lang: take('lang', (v) => v === 'en' || v === 'ru') as Params['lang'],
    theme: take('theme', (v) => v === 'light' || v === 'dark') as Params['theme'],
    draft: take('q', (v) => [...v].length <= 2000 && !v.includes('\0')) ?? '',
    embed: q.get('embed') === '1',
    dropped,
  };
}

/** The query of the full page that shows the same object, environment and conversation. */
export function pageQuery(view: View, envId: string, conversation: string | null): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(view)) if (v) q.set(k, v);
  if (envId) q.set('envId', envId);
  if (conversation) q.set('c', conversation);
  return q.toString();
}
