const allowed = /^(https?|mailto):$/;

/** An address that a link may lead to, or null. Scripts, data and addresses of other hosts in disguise have none. */
export function safeHref(href: string): string | null {
  const h = href.replace(/[\u0000-\u0020\u007f-\u009f]/g, '');
  if (h.startsWith('#')) return h;
  if (/^\/(?![/\\])/.test(h)) return h;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(h)) return null;
  try {
    const url = new URL(h);
    // A name before the @ reads like the place that the link leads to, and is none.
    const disguised = url.username !== '' || url.password !== '';
    return allowed.test(url.protocol) && !disguised ? url.href : null;
  } catch {
    return null;
  }
}

const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  mdash: '—',
  ndash: '–',
  hellip: '…',
  laquo: '«',
  raquo: '»',
};

/** Replaces the entities of a text; the result is used as text, never as markup. */
export function decode(s: string): string {
  if (!s.includes('&')) return s;
  return s.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]+);/gi, (whole, e: string) => {
    if (!e.startsWith('#')) return named[e.toLowerCase()] ?? whole;
    const n = /^#x/i.test(e) ? parseInt(e.slice(2), 16) : parseInt(e.slice(1), 10);
    return n > 0 && n <= 0x10ffff ? String.fromCodePoint(n) : whole;
  });
}
