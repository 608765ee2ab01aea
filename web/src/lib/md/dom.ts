import type { Token, Tokens } from 'marked';
import { decode, safeHref } from './url';

// Builds nodes from the tokens of marked. There is no HTML string, hence nothing to sanitise.

export interface Words {
  /** Stands for a picture that is not loaded: its address could carry data away. */
  image: (alt: string) => string;
}

type Tag = keyof HTMLElementTagNameMap;

const element = <T extends Tag>(tag: T, children: Node[] = []): HTMLElementTagNameMap[T] => {
  const e = document.createElement(tag);
  e.append(...children);
  return e;
};
const text = (s: string): Node => document.createTextNode(s);

// Deeper nesting than a person writes; beyond it the rest is shown as text.
const maxDepth = 40;

/** The nodes of inline tokens. */
export function inline(tokens: Token[], words: Words, depth = 0): Node[] {
  return tokens.flatMap((t) => inlineOne(t, words, depth + 1));
}

function inlineOne(token: Token, words: Words, depth: number): Node[] {
  if (depth > maxDepth) return [text(token.raw)];
  const t = token as Tokens.Generic;
  const children = () => inline(t.tokens ?? [], words, depth);
  switch (t.type) {
    case 'strong':
    case 'em':
    case 'del':
      return [element(t.type, children())];
    case 'codespan':
      return [element('code', [text(String(t.text))])];
    case 'br':
      return [element('br')];
    case 'link':
      return link(t as Tokens.Link, children());
    case 'image':
      return [text(words.image(decode(String(t.text ?? ''))))];
    case 'html':
      return [text(t.raw)];
    default:
      return t.tokens ? children() : [text(decode(String(t.text ?? t.raw)))];
  }
}

function link(t: Tokens.Link, children: Node[]): Node[] {
  const href = safeHref(t.href);
  if (href === null) return children;
  const a = element('a', children);
  a.href = href;
  a.target = '_blank';
  a.rel = 'noopener noreferrer nofollow';
  // The text of a link is the model's: it may name another place than the one it leads to.
  a.title = href;
  return [a];
}

/** The node of a block. Headings start at h3 below the page's own. */
export function block(t: Token, base: number, words: Words, depth = 0): Node {
  if (depth > maxDepth) return element('p', [text(t.raw)]);
  const inner = (tokens: Token[] | undefined) =>
    (tokens ?? []).filter((c) => c.type !== 'space' && c.type !== 'def').map((c) => block(c, base, words, depth + 1));
  switch (t.type) {
    case 'heading': {
      const level = Math.min(6, Math.max(3, (t as Tokens.Heading).depth - base + 3));
      return element(`h${level}` as 'h3', inline(t.tokens ?? [], words));
    }
    case 'list':
      return listOf(t as Tokens.List, base, words, depth);
    case 'blockquote':
      return element('blockquote', inner(t.tokens));
    case 'code': {
      const pre = element('pre', [element('code', [text((t as Tokens.Code).text)])]);
      pre.tabIndex = 0;
      return pre;
    }
    case 'table':
      return table(t as Tokens.Table, words);
    case 'hr':
      return element('hr');
    case 'html':
      return element('p', [text(t.raw)]);
    default:
      return element('p', inline((t as Tokens.Paragraph).tokens ?? [t], words));
  }
}

function listOf(l: Tokens.List, base: number, words: Words, depth: number): Node {
  const items = l.items.map((item) =>
    element(
      'li',
      item.tokens.flatMap((c): Node[] => {
        if (c.type === 'text') return inline((c as Tokens.Text).tokens ?? [c], words);
        if (c.type === 'checkbox') return [text(item.checked ? '☑ ' : '☐ ')];
        if (c.type === 'space' || c.type === 'def') return [];
        return [block(c, base, words, depth + 1)];
      }),
    ),
  );
  if (!l.ordered) return element('ul', items);
  const ol = element('ol', items);
  if (typeof l.start === 'number' && l.start !== 1) ol.start = l.start;
  return ol;
}

/** A table in the flow of a list or a quote; one that stands by itself has its own component. */
function table(t: Tokens.Table, words: Words): Node {
  const row = (cells: Tokens.TableCell[], tag: 'th' | 'td') =>
    element(
      'tr',
      cells.map((c) => element(tag, inline(c.tokens, words))),
    );
  return element('table', [
    element('thead', [row(t.header, 'th')]),
    element(
      'tbody',
      t.rows.map((r) => row(r, 'td')),
    ),
  ]);
}

/** Makes `a` look like `b` and touches only what differs, so that a selection and the scroll place survive. */
export function patch(a: ChildNode, b: ChildNode): void {
  if (a.nodeName !== b.nodeName) {
    a.replaceWith(b);
    return;
  }
  if (a instanceof Text && b instanceof Text) {
    if (b.data.startsWith(a.data)) {
      if (b.data.length > a.data.length) a.appendData(b.data.slice(a.data.length));
    } else a.data = b.data;
    return;
  }
  if (a instanceof HTMLAnchorElement && b instanceof HTMLAnchorElement && a.href !== b.href) {
    a.href = b.href;
    a.title = b.title;
  }
  if (a instanceof HTMLOListElement && b instanceof HTMLOListElement && a.start !== b.start) a.start = b.start;
  const have = [...a.childNodes];
  const want = [...b.childNodes];
  want.forEach((w, i) => {
    const h = have[i];
    if (h) patch(h, w);
    else a.appendChild(w);
  });
  for (const extra of have.slice(want.length)) extra.remove();
}
