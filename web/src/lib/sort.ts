import { showJson, type Json } from './json';

export interface Order {
  column: number;
  descending: boolean;
}

/** The next order when a column's heading is pressed: up, down, as it came. */
export function press(o: Order | null, column: number): Order | null {
  if (o?.column !== column) return { column, descending: false };
  return o.descending ? null : { column, descending: true };
}

/** The rows in an order. Numbers by value, exact ones too; texts as the language sorts; nothing last either way. */
export function sorted<R extends { cells: { value: Json }[] }>(rows: R[], o: Order | null, lang: string): R[] {
  if (!o) return rows;
  const text = new Intl.Collator(lang, { numeric: true });
  const sign = o.descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const x = a.cells[o.column]?.value ?? null;
    const y = b.cells[o.column]?.value ?? null;
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    const [m, n] = [number(x), number(y)];
    if (m !== null && n !== null) return m < n ? -sign : m > n ? sign : 0;
    return sign * text.compare(showJson(x), showJson(y));
  });
}

function number(v: Json): number | bigint | null {
  if (typeof v === 'number' || typeof v === 'bigint') return v;
  return typeof v === 'string' && /^-?\d{16,}$/.test(v) ? BigInt(v) : null;
}
