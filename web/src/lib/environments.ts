import type { Environment } from './api';

/** Where nothing was chosen: the first place that is not production. Production is chosen by a person. */
export function firstSafe(all: Environment[]): string {
  if (all.length === 1) return all[0]?.id ?? '';
  return all.find((e) => e.class !== 'prod' && e.reachable !== false)?.id ?? '';
}
