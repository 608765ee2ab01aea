import type { Key } from './i18n/en';
import type { Params } from './i18n/i18n.svelte';

export type T = (key: Key, p?: Params) => string;

const types = ['dashboard', 'chart', 'dataset', 'database', 'sqllab', 'migration'] as const;

/** The name of an object type; a type that is not known is shown as it is. */
export function typeName(type: string, t: T): string {
  const known = types.find((k) => k === type);
  return known ? t(known) : type;
}

const placeholders: Record<string, Key> = { dashboard: 'askDashboard', chart: 'askChart', dataset: 'askDataset' };

export const placeholder = (type: string | undefined): Key => placeholders[type ?? ''] ?? 'ask';

const outcomes: Record<string, Key> = {
  cancelled: 'cancelled',
  max_steps: 'maxSteps',
  token_budget: 'tokenBudget',
  cost_budget: 'costBudget',
  time_budget: 'timeBudget',
  repetition: 'repetition',
  denied: 'deniedRun',
};

/** What a run's end says, or '' for ends that need no words: the answer or the open card speaks for itself. */
export function outcomeText(outcome: string, t: T): string {
  if (outcome === 'answered' || outcome === 'awaiting_confirmation') return '';
  const key = outcomes[outcome];
  return key ? t(key) : t('otherOutcome', { code: outcome });
}

/** The one line that a card becomes. */
export const resolvedText = (
  state: 'open' | 'approved' | 'edited' | 'rejected' | 'expired' | 'superseded',
  at: string,
  t: T,
): string =>
  ({
    open: '',
    approved: t('approvedAt', { t: at }),
    edited: t('editedAt', { t: at }),
    rejected: t('rejectedAt', { t: at }),
    expired: t('expiredAt'),
    superseded: t('supersededAt'),
  })[state];

const bounds: Record<string, Key> = {
  source_limit: 'boundSource',
  preview_limit: 'boundPreview',
  batch_budget: 'boundBatch',
  size_cap: 'boundSize',
  time_cap: 'boundTime',
};

export const boundText = (why: string, t: T): string => {
  const key = bounds[why];
  return key ? t(key) : why;
};

const denials: Record<string, Key> = {
  role: 'deniedRole',
  policy: 'deniedPolicy',
  ownership: 'deniedOwnership',
  superset: 'deniedSuperset',
};

export const deniedText = (reason: string, tool: string, t: T): string =>
  t(denials[reason] ?? 'deniedPolicy', { tool });

const kinds: Record<string, Key> = {
  chart: 'kindChart',
  dashboard: 'kindDashboard',
  report: 'kindReport',
  dataset: 'kindDataset',
};

export const kindName = (kind: string, t: T): string => {
  const key = kinds[kind];
  return key ? t(key) : kind;
};

const risks: Record<string, Key> = {
  read: 'riskRead',
  query: 'riskQuery',
  write: 'riskWrite',
  dangerous: 'riskDangerous',
};

export const riskName = (risk: string, t: T): string => {
  const key = risks[risk];
  return key ? t(key) : risk;
};

const refusals: Record<string, Key> = {
  run_active: 'runActive',
  confirmation_open: 'confirmationOpen',
  too_early: 'tooEarly',
};

/** Says why a request was not done, in the page's language where it knows the reason. */
export function refusalText(
  r: {
    status: number;
    code: string;
    message: string;
    retryAfter: number;
    fields: { pointer: string; detail: string }[];
  },
  t: T,
): string {
  const key = refusals[r.code];
  if (key) return t(key);
  if (r.status === 0) return t('notSent');
  if (r.status === 429) return t('rateLimit', { n: Math.max(1, r.retryAfter) });
  const fields = r.fields.map((f) => `${f.pointer}: ${f.detail}`).join('; ');
  const text = r.message || t('refusedGeneric', { code: r.code });
  return fields ? `${text} ${fields}` : text;
}
