import type { HostContext } from './protocol';
import { placeOf } from './routes';

// What Superset's page tells about itself. All of it may be missing or different in another version.

interface Bootstrap {
  common?: { application_root?: string; locale?: string };
}

let bootstrap: Bootstrap | undefined;

/** The values that are written once into the page, at its load. */
function boot(): Bootstrap {
  if (!bootstrap) {
    try {
      bootstrap = JSON.parse(document.getElementById('app')?.dataset.bootstrap ?? '{}') as Bootstrap;
    } catch {
      bootstrap = {};
    }
  }
  return bootstrap;
}

export const appRoot = (): string => boot().common?.application_root ?? '/';

/** What is looked at now, without the name of the object. */
export function contextNow(): HostContext {
  const place = placeOf(location.pathname, location.search, appRoot());
  return { ...place, lang: boot().common?.locale ?? navigator.language };
}

/** Superset marks its theme nowhere; the colour behind the page tells it. */
export function themeNow(): 'light' | 'dark' {
  const rgb =
    getComputedStyle(document.body)
      .backgroundColor.match(/[\d.]+/g)
      ?.map(Number) ?? [];
  const [r = 255, g = 255, b = 255, alpha = 1] = rgb;
  return alpha > 0 && (r + g + b) / 3 < 90 ? 'dark' : 'light';
}

/**
 * The object's number and name, by its id, from Superset itself: the title of the page is that of an earlier page
 * while it navigates, and stays so on lists. Null where there is none or it is not visible to the user.
 */
export async function named(c: HostContext): Promise<{ objectId: string; objectName: string } | null> {
  const column = c.objectType === 'dashboard' ? 'dashboard_title' : c.objectType === 'chart' ? 'slice_name' : '';
  if (!column || !c.objectId) return null;
  try {
    const root = appRoot().replace(/\/$/, '');
    const path = `${root}/api/v1/${c.objectType}/${encodeURIComponent(c.objectId)}?q=(columns:!(id,${column}))`;
    const res = await fetch(path, { headers: { Accept: 'application/json' } });
    if (!res.ok) return null;
    const { result } = (await res.json()) as { result: Record<string, unknown> };
    return typeof result.id === 'number'
      ? { objectId: String(result.id), objectName: String(result[column] ?? '') }
      : null;
  } catch {
    return null;
  }
}
