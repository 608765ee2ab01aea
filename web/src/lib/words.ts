import type { Key } from './i18n/en';
import type { I18n, Params } from './i18n/i18n.svelte';
import type { Confirm } from './conversation';
import type { Artifact, Preview } from './wire';

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

/** The one line that a card becomes: who decided what, and when. `me` is who reads it. */
export function resolvedText(state: Confirm['state'], by: string, at: string, me: string | undefined, i: I18n): string {
  if (state === 'open') return '';
  if (state === 'expired') return i.t('expiredAt');
  if (state === 'superseded') return i.t('supersededAt');
  return i.t(`${state}${by === me ? 'Own' : 'By'}`, { t: i.when(at), who: by });
}

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

const unstored: Record<string, Key> = {
  DENIED: 'whyDenied',
  FAILED: 'whyFailed',
  CANCELLED: 'whyCancelled',
  SKIPPED: 'whySkipped',
};
const coverages: Record<string, Key> = { COMPLETE: 'stored', PREFIX: 'storedPrefix' };

/** What became of the whole result; "all" only where the server says so. */
export function storedText(a: Artifact, i: I18n): string {
  const why = unstored[a.decision];
  if (why) return i.t('notStored', { why: i.t(why) });
  const text = i.t(coverages[a.coverage ?? ''] ?? 'storedUnsure', { size: i.bytes(a.size_bytes ?? 0) });
  return a.expires_at ? `${text} ${i.t('storedUntil', { t: i.moment(a.expires_at) })}` : text;
}

/** How much of a result is shown, or '' where nobody counted. */
export function shownText(p: Preview, t: T): string {
  if (p.returned === undefined) return '';
  const rows = p.columns.length > 0;
  if (p.total !== undefined && p.total !== p.returned)
    return rows ? t('rowsOf', { a: p.returned, n: p.total }) : t('shownOf', { a: p.returned, b: p.total });
  return rows && p.completeness === 'COMPLETE' ? t('allShown', { n: p.returned }) : t('shown', { a: p.returned });
}

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
