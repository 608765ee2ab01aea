import type { I18n } from './i18n/i18n.svelte';
import type { WireEvent } from './wire';
import { resolvedText } from './words';

/** What one event makes a live region say. Urgent is what a person has to act upon. */
export interface Spoken {
  text: string;
  urgent: boolean;
}

/** The boundaries of a run and of its calls are spoken; parts of an answer and what nobody waits for are not. */
export function spoken(e: WireEvent, user: string | undefined, i18n: I18n): Spoken | null {
  const { t } = i18n;
  const say = (text: string, urgent = false): Spoken => ({ text, urgent });
  switch (e.type) {
    case 'run_started':
      return say(t('answering'));
    case 'confirm_required':
      return say(t('decisionNeeded'), true);
    case 'confirm_resolved':
      return say(resolvedText(e.decision, e.by, e.at ?? '', user, i18n));
    case 'permission_denied':
      return say(t('deniedTitle'));
    case 'tool_timeout':
      return say(t(e.is_write_tool ? 'unknownTitle' : 'failed'), e.is_write_tool);
    case 'tool_error':
      return e.retry_exhausted ? say(t('retryExhausted')) : null;
    case 'tool_outcome':
      return say(t(e.outcome === 'applied' ? 'applied' : e.outcome === 'not_applied' ? 'notApplied' : 'stillUnknown'));
    case 'run_error':
      return say(t('runFailed'), true);
    case 'run_finished':
      if (e.outcome === 'answered') return say(t('answered'));
      return e.outcome === 'cancelled' ? say(t('cancelled')) : null;
    default:
      return null;
  }
}
