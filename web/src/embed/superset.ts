import type { HostContext, HostTheme } from './protocol';
import { below, placeOf, type Place } from './routes';

// What Superset's page tells about itself. All of it may be missing or different in another version.

interface Common {
  application_root?: string;
  locale?: string;
  theme?: Record<string, { token?: { fontFamily?: string; colorLink?: string } } | undefined>;
}
interface Tab {
  databaseId?: number;
  schema?: string;
}

let told: Common | undefined;

/** The values that are written once into the page, at its load. */
function common(): Common {
  try {
    const page = document.getElementById('app')?.dataset.bootstrap ?? '';
    return (told ??= (JSON.parse(page) as { common: Common }).common);
  } catch {
    return {};
  }
}

const root = (): string => (common().application_root ?? '').replace(/\/$/, '');

/** The path of the page, as Superset itself sees it. */
export const pathNow = (): string => below(root(), location.pathname);

/** What is looked at now, as far as the page itself tells: without the name of the object. */
export function contextNow(): HostContext & Place {
  const place = placeOf(pathNow(), location.search);
  return {
    ...place,
    ...(place.objectType === 'sqllab' && tabNow()),
    route: location.pathname,
    lang: common().locale ?? navigator.language,
  };
}

/** The database and the schema of the tab of SQL Lab. Asked elsewhere, and while it loads, Superset throws. */
function tabNow(): HostContext {
  try {
    const { superset } = window as unknown as { superset: { sqlLab: { getCurrentTab: () => Tab } } };
    const { databaseId, schema } = superset.sqlLab.getCurrentTab();
    return { objectId: databaseId?.toString(), objectName: schema };
  } catch {
    return {};
  }
}

/** Superset marks its mode nowhere, the colour behind the page tells it; font and links are told at its load. */
export function themeNow(): HostTheme {
  const red = /^rgb\((\d+)/.exec(getComputedStyle(document.body).backgroundColor)?.[1] ?? 255; // none behind is white
  const mode = +red < 90 ? 'dark' : 'light';
  const tokens = common().theme?.[mode === 'dark' ? mode : 'default']?.token;
  return { mode, fontFamily: tokens?.fontFamily, link: tokens?.colorLink };
}

const ask = async (path: string): Promise<Record<string, unknown>> =>
  (await (await fetch(`${root()}/api/v1/${path}`)).json()) as Record<string, unknown>;

const titles: Record<string, string> = {
  dashboard: 'dashboard_title',
  chart: 'slice_name',
  dataset: 'table_name',
};

/**
 * The object's number and name, by its id, from Superset itself: the title of the page is that of an earlier page
 * while it navigates, and stays so on lists. Null where there is none or it is not visible to the user.
 */
export async function named(c: HostContext & Place): Promise<HostContext | null> {
  try {
    let { objectType = '', objectId } = c;
    if (c.link) {
      const { chartId, datasourceId } = await ask(`explore/permalink/${c.link}`);
      objectType = chartId ? 'chart' : 'dataset';
      objectId = `${chartId ?? datasourceId}`;
    }
    const title = titles[objectType];
    if (!title || !objectId) return null;
    const { result } = await ask(`${objectType}/${encodeURIComponent(objectId)}?q=(columns:!(id,${title}))`);
    const { id, [title]: objectName } = result as Record<string, string>;
    return id ? { objectType, objectId: `${id}`, objectName } : null;
  } catch {
    return null;
  }
}
