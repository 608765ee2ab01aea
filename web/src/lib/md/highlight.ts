import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import yaml from 'highlight.js/lib/languages/yaml';

for (const [name, language] of Object.entries({ sql, json, python, yaml, bash })) hljs.registerLanguage(name, language);

interface Scope {
  scope?: string;
  children: (string | Scope)[];
}

// Longer code is shown plain: colour is not worth a frozen page.
const limit = 40_000;

/** The coloured nodes of a piece of code, or null for a language that is not known. */
export function highlight(code: string, language: string): Node[] | null {
  if (!hljs.getLanguage(language) || code.length > limit) return null;
  // The public result is an HTML string, which this page has no use for; the tree behind it is what is drawn.
  const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true }) as unknown as {
    _emitter: { rootNode: Scope };
  };
  return _emitter.rootNode.children.map(draw);
}

function draw(n: string | Scope): Node {
  if (typeof n === 'string') return document.createTextNode(n);
  const span = document.createElement('span');
  const name = n.scope?.split('.')[0];
  if (name) span.className = `hl-${name}`;
  span.append(...n.children.map(draw));
  return span;
}
