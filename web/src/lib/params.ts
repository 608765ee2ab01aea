import type { View } from './wire';

// A link can be written by anybody. What is not well-formed is dropped and named; nothing in it is ever sent by itself.

const types = ['dashboard', 'chart', 'dataset', 'database', 'sqllab', 'migration'];
const idShape = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
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

/** Reads the query of the page's address. Never throws. */
export function readParams(search: string): Params {
  const q = new URLSearchParams(search);
  const dropped: string[] = [];
  const take = (name: string, ok: (v: string) => boolean): string | undefined => {
    const v = q.get(name);
    if (v === null || v === '') return undefined;
    if (q.getAll(name).length === 1 && ok(v)) return v;
    dropped.push(name);
    return undefined;
  };
  const text = (max: number) => (v: string) => [...v].length <= max && !control.test(v);

  const view: View = {};
  const objectType = take('objectType', (v) => types.includes(v));
  let objectId = take('objectId', (v) => idShape.test(v));
  const objectName = take('objectName', text(120));
  const route = take('route', (v) => /^\/(?!\/)/.test(v) && text(512)(v));
  if (objectId && !objectType) {
    if (!dropped.includes('objectType')) dropped.push('objectId');
    objectId = undefined;
  }
  if (objectType) view.objectType = objectType;
  if (objectId) view.objectId = objectId;
  if (objectType && objectName) view.objectName = objectName;
  if (route) view.route = route;
  return {
    view,
    envId: take('envId', (v) => envShape.test(v)),
    conversation: take('c', (v) => conversationShape.test(v)),
    lang: take('lang', (v) => v === 'en' || v === 'ru') as Params['lang'],
    theme: take('theme', (v) => v === 'light' || v === 'dark') as Params['theme'],
    draft: take('q', text(2000)) ?? '',
    embed: q.get('embed') === '1',
    dropped,
  };
}
