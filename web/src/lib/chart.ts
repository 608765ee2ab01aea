import type { Json } from './json';
import type { Column } from './wire';

export interface Bar {
  key: number;
  label: string;
  value: number;
}
export interface Chart {
  label: string;
  value: string;
  bars: Bar[];
  /** The labels are moments in order: a line says more than bars. */
  line: boolean;
}

const most = 24;

/** A small picture of a small table: its first text column against its first column of numbers. Null where there is none. */
export function chartOf(columns: Column[], rows: Json[][]): Chart | null {
  if (rows.length < 2 || rows.length > most) return null;
  // A number that names something is not a quantity.
  const isId = (name: string) => /(^|_)id$/i.test(name);
  const numeric = (n: number) => rows.every((r) => typeof r[n] === 'number' && Number.isFinite(r[n]));
  const value = columns.findIndex((c, n) => !isId(c.name) && numeric(n));
  const label = columns.findIndex((_c, n) => n !== value && rows.every((r) => typeof r[n] === 'string'));
  const v = columns[value];
  const l = columns[label];
  if (!v || !l) return null;
  const bars = rows.map((r, key) => ({ key, label: String(r[label]), value: Number(r[value]) }));
  const moments = bars.every((b) => /^\d{4}-\d{2}(-\d{2})?/.test(b.label));
  const rising = bars.every((b, n) => n === 0 || b.label > (bars[n - 1]?.label ?? ''));
  return { label: l.name, value: v.name, bars, line: moments && rising };
}
