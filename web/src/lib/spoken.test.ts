import { expect, test } from 'vitest';
import { I18n } from './i18n/i18n.svelte';
import { spoken } from './spoken';
import type { WireEvent } from './wire';

const head = { id: 1, ts: '2026-01-02T03:04:05Z', conversation_id: 'c', run_id: 'r' };

test.each<[Record<string, unknown>, string | null, boolean?]>([
  [{ type: 'run_started' }, 'The agent is answering'],
  [{ type: 'text_delta', text: 'word' }, null],
  [{ type: 'message', role: 'assistant', text: 'word' }, null],
  [{ type: 'tool_start', tool: 'x' }, null],
  [{ type: 'tool_retry' }, null],
  [{ type: 'tool_result' }, null],
  [{ type: 'tool_error', retry_exhausted: false }, null],
  [{ type: 'tool_error', retry_exhausted: true }, 'Superset did not answer twice.'],
  [{ type: 'tool_timeout', is_write_tool: false }, 'Failed'],
  [{ type: 'tool_timeout', is_write_tool: true }, 'Operation status unknown — check Superset', true],
  [{ type: 'tool_outcome', outcome: 'applied' }, 'The change was made'],
  [{ type: 'permission_denied' }, 'Not allowed'],
  [{ type: 'confirm_required' }, 'Your decision is needed', true],
  [{ type: 'confirm_resolved', decision: 'expired' }, 'The request expired'],
  [{ type: 'usage' }, null],
  [{ type: 'run_finished', outcome: 'answered' }, 'The agent has answered'],
  [{ type: 'run_finished', outcome: 'cancelled' }, 'You stopped the answer'],
  [{ type: 'run_finished', outcome: 'awaiting_confirmation' }, null],
])('%o says %s', (e, text, urgent = false) => {
  const said = spoken({ ...head, ...e } as unknown as WireEvent, 'anna', new I18n('en'));
  expect(said).toEqual(text === null ? null : { text, urgent });
});
