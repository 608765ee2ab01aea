/** What the page of Superset shows, as far as its address tells. */
export interface Place {
  objectType?: string;
  objectId?: string;
  /** Key of a link to a chart; only Superset knows of which. */
  link?: string;
}

/** Takes the application root ("" or "/bi") off a path. */
export const below = (root: string, path: string): string =>
  path.startsWith(`${root}/`) ? path.slice(root.length) : path;

/**
 * Reads an address of Superset 6.1, whose path is given without the application root. A list is no object: a pattern
 * that takes any last segment would take `/dashboard/list/` for a dashboard called "list".
 */
export function placeOf(path: string, search: string): Place {
  const is = (objectType: string, objectId?: string): Place => ({ objectType, objectId });
  const [, page, key = ''] = /^\/superset\/(dashboard|explore\/p)\/([^/]+)\/?$/.exec(path) ?? [];
  if (page === 'explore/p') return { link: key };
  if (page && key !== 'p') return is('dashboard', decode(key));
  if (/^\/explore\/?$/.test(path)) {
    const q = new URLSearchParams(search);
    const number = (name: string) => /^\d+$/.exec(q.get(name) ?? '')?.[0];
    const chart = number('slice_id');
    if (chart) return is('chart', chart);
    const dataset = number('datasource_id');
    if (dataset && q.get('datasource_type') !== 'query') return is('dataset', dataset);
  }
  return /^\/sqllab(\/|$)/.test(path) ? is('sqllab') : {};
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
