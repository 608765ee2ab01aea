/** A JSON value whose integers are exact: those that a double would round are bigints. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

const tokens = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;
const mark = '\u0001int:';

/** Parses JSON without rounding long integers. Throws SyntaxError as JSON.parse does. */
export function parseJson(text: string): Json {
  if (!/\d{16}/.test(text)) return JSON.parse(text) as Json;
  const marked = text.replace(tokens, (t) => (t.startsWith('"') || String(Number(t)) === t ? t : `"\\u0001int:${t}"`));
  return JSON.parse(marked, (_key, v: Json) =>
    typeof v === 'string' && v.startsWith(mark) && /^-?\d+$/.test(v.slice(mark.length))
      ? BigInt(v.slice(mark.length))
      : v,
  ) as Json;
}

/** Writes what parseJson read, long integers as they were. */
export function writeJson(v: Json, indent = ''): string {
  if (typeof v === 'bigint') return v.toString();
  if (v === null || typeof v !== 'object') return JSON.stringify(v);
  const deeper = indent + '  ';
  const parts = Array.isArray(v)
    ? v.map((x) => deeper + writeJson(x, deeper))
    : Object.entries(v).map(([k, x]) => `${deeper}${JSON.stringify(k)}: ${writeJson(x, deeper)}`);
  const [open, close] = Array.isArray(v) ? '[]' : '{}';
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

/** One value as a person reads it: a text without its quotes, anything else as JSON. */
export function showJson(v: Json | undefined): string {
  if (v === undefined) return '';
  return typeof v === 'string' ? v : writeJson(v);
}
