import type { IconName } from '../components/Icon.svelte';
import type { Call } from './conversation';
import type { I18n } from './i18n/i18n.svelte';
import { shownText, type T } from './words';

const icons: Record<Call['state'], IconName> = {
  running: 'spinner',
  retrying: 'retry',
  done: 'check',
  failed: 'cross',
  unknown: 'question',
  denied: 'lock',
  stopped: 'stop',
};

export function callIcon(c: Call): IconName {
  if (c.outcome === 'applied') return 'check';
  if (c.outcome === 'not_applied') return 'cross';
  return icons[c.state];
}

/** The one line of a call: its state, or what came of it. */
export function callText(c: Call, i: I18n): string {
  const { t } = i;
  switch (c.state) {
    case 'running':
      return t('running');
    case 'retrying':
      return t('retrying', { a: c.attempt ?? 2, b: c.maxAttempts ?? 2 });
    case 'done':
      return c.summary || t('done');
    case 'failed':
      if (c.retryExhausted) return t('retryExhausted');
      if (c.why === 'timeout') return t('timedOut', { n: Math.round((c.timeoutMs ?? 0) / 1000) });
      return c.why === 'connection_lost' || c.why === 'gateway' ? t('noAnswer') : t('failed');
    case 'denied':
      return t('deniedTitle');
    case 'stopped':
      return t('stoppedCall');
    case 'unknown':
      if (c.outcome === 'applied') return t('applied');
      if (c.outcome === 'not_applied') return t('notApplied');
      return t('unknownTitle');
  }
}

/** How much of a result is shown: "Showing 5 of 151 rows". */
export function callBadge(c: Call, t: T): string {
  const p = c.preview;
  if (c.state !== 'done' || p?.returned === undefined) return '';
  return p.total !== undefined && p.total !== p.returned ? shownText(p, t) : '';
}

/** A failed read may be tried again. What is not surely a read may not, whatever the event says. */
export function canRetry(c: Call): boolean {
  return c.state === 'failed' && c.retryable && c.risk?.tool === 'read' && c.retriedBy === undefined;
}
