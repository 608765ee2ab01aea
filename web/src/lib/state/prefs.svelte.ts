import type { Lang } from '../i18n/i18n.svelte';

export type Theme = 'auto' | 'light' | 'dark';

/** What a person chose for this browser. A browser that keeps nothing just forgets it. */
export class Prefs {
  theme = $state<Theme>('auto');
  lang = $state<Lang | null>(null);
  sidebar = $state(true);
  envId = $state('');

  constructor(private readonly storage: Pick<Storage, 'getItem' | 'setItem'> | null = localStorageOrNone()) {
    const theme = this.#get('theme');
    if (theme === 'light' || theme === 'dark') this.theme = theme;
    const lang = this.#get('lang');
    if (lang === 'en' || lang === 'ru') this.lang = lang;
    this.sidebar = this.#get('sidebar') !== 'closed';
    this.envId = this.#get('env') ?? '';
  }

  setTheme(t: Theme): void {
    this.theme = t;
    this.#set('theme', t);
  }

  setLang(l: Lang): void {
    this.lang = l;
    this.#set('lang', l);
  }

  setSidebar(open: boolean): void {
    this.sidebar = open;
    this.#set('sidebar', open ? 'open' : 'closed');
  }

  setEnv(id: string): void {
    this.envId = id;
    this.#set('env', id);
  }

  #get(key: string): string | null {
    try {
      return this.storage?.getItem(`agentd.${key}`) ?? null;
    } catch {
      return null;
    }
  }

  #set(key: string, value: string): void {
    try {
      this.storage?.setItem(`agentd.${key}`, value);
    } catch {
      // Full or forbidden: the choice holds for this visit.
    }
  }
}

function localStorageOrNone(): Storage | null {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}
