/** What the page of Superset shows, as far as its address tells. */
export interface Place {
  objectType?: string;
  objectId?: string;
  route: string;
}

/**
 * Reads an address of Superset 6.1. `root` is its application root ("/" or "/bi/"). A list is no object: a pattern
 * that takes any last segment would take `/dashboard/list/` for a dashboard called "list".
 */
export function placeOf(pathname: string, search: string, root = '/'): Place {
  const base = root.replace(/\/$/, '');
  const path = base && pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
  const route = pathname.slice(0, 512);
  const dashboard = /^\/superset\/dashboard\/([^/]+)\/?$/.exec(path)?.[1];
  if (dashboard !== undefined && dashboard !== 'p')
    return { objectType: 'dashboard', objectId: decode(dashboard), route };
  if (/^\/explore\/?$/.test(path)) {
    const q = new URLSearchParams(search);
    const chart = q.get('slice_id');
    if (chart && /^\d+$/.test(chart)) return { objectType: 'chart', objectId: chart, route };
    const dataset = q.get('datasource_id');
    if (dataset && /^\d+$/.test(dataset) && q.get('datasource_type') !== 'query')
      return { objectType: 'dataset', objectId: dataset, route };
    return { route };
  }
  if (/^\/sqllab(\/|$)/.test(path)) return { objectType: 'sqllab', route };
  return { route };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
