import { en, type Key, type Messages } from './en';
import { Lazy } from '../lazy.svelte';

export type Lang = 'en' | 'ru';
export type Params = Record<string, string | number>;

// English comes with the page. Another language is fetched for those who read it; until then English stands in.
const russian = new Lazy<Messages>(() => import('./ru').then((m) => m.ru));
const catalogue = (lang: Lang): Messages => (lang === 'ru' ? (russian.current ?? (en as Messages)) : (en as Messages));

/** Fetches what a language needs, so that the first paint is in it. */
export const loadLang = (lang: Lang): Promise<void> => (lang === 'ru' ? russian.want() : Promise.resolve());

/** The words of the page in one of its languages, and the formats that belong to it. */
export class I18n {
  lang = $state<Lang>('en');
  #plural = $derived(new Intl.PluralRules(this.lang));
  #number = $derived(new Intl.NumberFormat(this.lang));
  #decimal = $derived(new Intl.NumberFormat(this.lang, { maximumFractionDigits: 1 }));
  #time = $derived(new Intl.DateTimeFormat(this.lang, { hour: '2-digit', minute: '2-digit' }));
  #dateTime = $derived(new Intl.DateTimeFormat(this.lang, { dateStyle: 'medium', timeStyle: 'short' }));

  constructor(lang: Lang = 'en') {
    this.lang = lang;
  }

  /** The text of a key. Plural forms are chosen by the parameter `n`; numbers are written as the language does. */
  t = (key: Key, p: Params = {}): string => {
    const m = catalogue(this.lang)[key];
    const form = typeof m === 'string' ? m : (m[this.#plural.select(Number(p.n ?? 0))] ?? m.other ?? '');
    return form.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const v = p[name];
      if (v === undefined) return whole;
      return typeof v === 'number' ? this.number(v) : v;
    });
  };

  number = (n: number): string => this.#number.format(n);

  /** The time of day of today's moments, date and time of others; '' for what is no date. */
  moment = (iso: string): string => {
    const d = new Date(iso);
    if (Number.isNaN(d.getTime())) return '';
    return today(d) ? this.#time.format(d) : this.#dateTime.format(d);
  };

  /** When something happened, as part of a sentence: "at 14:32", or on which day. */
  when = (iso: string): string => {
    const moment = this.moment(iso);
    return moment && this.t(today(new Date(iso)) ? 'atTime' : 'onDay', { t: moment });
  };

  duration = (ms: number): string =>
    ms < 1000
      ? this.t('milliseconds', { n: Math.round(ms) })
      : this.t('seconds', { n: this.#decimal.format(ms / 1000) });

  money = (usd: number): string =>
    new Intl.NumberFormat(this.lang, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 }).format(usd);

  bytes = (n: number): string => {
    const units = this.lang === 'ru' ? ['Б', 'КБ', 'МБ', 'ГБ'] : ['B', 'KB', 'MB', 'GB'];
    let i = 0;
    let v = n;
    while (v >= 1000 && i < units.length - 1) {
      v /= 1000;
      i++;
    }
    return `${this.#decimal.format(v)} ${units[i]}`;
  };
}

const today = (d: Date): boolean => d.toDateString() === new Date().toDateString();

/** The page's language: the link's, the one chosen before, the user's, the browser's. */
export function chooseLang(...wishes: (string | null | undefined)[]): Lang {
  for (const w of wishes) {
    const short = w?.slice(0, 2).toLowerCase();
    if (short === 'en' || short === 'ru') return short;
  }
  return 'en';
}
