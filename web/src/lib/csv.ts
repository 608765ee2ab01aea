import { showJson, type Json } from './json';

/**
 * Rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula is led by an apostrophe; numbers are not
 * texts and stay as they are.
 */
export function toCsv(columns: string[], rows: Json[][]): string {
  return [columns, ...rows].map((r) => r.map(cell).join(',')).join('\r\n') + '\r\n';
}

function cell(v: Json): string {
  if (v === null) return '';
  if (typeof v !== 'string') return quote(showJson(v));
  const exact = /^-?\d+$/.test(v);
  return quote(!exact && /^[=+\-@\t\r]/.test(v) ? `'${v}` : v);
}

const quote = (s: string): string => (/[",\r\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);
