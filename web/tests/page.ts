import { render } from '@testing-library/svelte';
import type { Component } from 'svelte';
import { Api } from '../src/lib/api';
import type { Call, Confirm } from '../src/lib/conversation';
import type { Lang } from '../src/lib/i18n/i18n.svelte';
import { readParams } from '../src/lib/params';
import { App } from '../src/lib/state/app.svelte';
import { Prefs } from '../src/lib/state/prefs.svelte';
import Host from './Host.svelte';

export interface Sent {
  method: string;
  path: string;
  body: Record<string, unknown>;
}

/** An App whose server is a function: path → status and body. What was asked is recorded. */
export function fakeApp(
  answer: (r: Sent) => [number, unknown] | Promise<[number, unknown]> = () => [200, {}],
  lang: Lang = 'en',
  search = '',
) {
  const sent: Sent[] = [];
  const fetcher = (async (url: unknown, init?: RequestInit) => {
    const path = String(url).replace('http://x/', '');
    const body = init?.body ? (JSON.parse(String(init.body)) as Record<string, unknown>) : {};
    const r = { method: init?.method ?? 'GET', path, body };
    sent.push(r);
    const [status, v] = await answer(r);
    if (status === 0) throw new TypeError('network');
    return new Response(status === 204 ? null : JSON.stringify(v), { status });
  }) as typeof fetch;
  const app = new App(new Api('http://x/', fetcher), { ...readParams(search), lang }, new Prefs(null));
  return { app, sent };
}

/** Draws a component inside a page. */
export const draw = <P extends Record<string, unknown>>(app: App, component: Component<P>, props: P) =>
  render(Host, { props: { app, child: component as unknown as Component<Record<string, unknown>>, given: props } });

export const aCall = (more: Partial<Call> = {}): Call => ({
  kind: 'call',
  id: 't1',
  runId: 'r1',
  tool: 'get_dashboard',
  args: { dashboard: 42 },
  envId: 'ss-dev',
  risk: { tool: 'read', env: 'dev', permission: 'granted' },
  state: 'running',
  at: '',
  folded: false,
  links: [],
  retryable: false,
  retryExhausted: false,
  ...more,
});

export const aConfirm = (more: Partial<Confirm> = {}): Confirm => ({
  kind: 'confirm',
  id: 'q1',
  runId: 'r1',
  callId: 't1',
  tool: 'delete_dashboard',
  args: { dashboard: 42 },
  argsDigest: 'digest',
  envId: 'ss-prod',
  risk: { tool: 'dangerous', env: 'prod', permission: 'granted' },
  dangerous: true,
  countdownSeconds: 10,
  allowed: ['approve', 'reject'],
  preview: { diff: [], blast_radius: [], owners: [], notes: [], untrusted: [], references: [] },
  expiresAt: '2026-11-29T21:00:00Z',
  state: 'open',
  at: '',
  folded: false,
  ...more,
});
