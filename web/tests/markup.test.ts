import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../src');
/** Everything by which a text could become markup or code. */
const sinks =
  /inner(HTML|html)|outerHTML|insertAdjacentHTML|setHTML|parseHTMLUnsafe|createContextualFragment|DOMParser|srcdoc|document\.write|\{@html|\beval\(|new Function\b|import\(\s*[^'"\s]/;

test('no text of the page can become markup or code', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((f) =>
    /(?<!\.test)\.(ts|svelte)$/.test(f),
  );
  expect(files.length).toBeGreaterThan(50);
  const found = files.flatMap((f) =>
    readFileSync(join(src, f), 'utf8')
      .split('\n')
      .map((line, n) => `${f}:${n + 1} ${line.trim()}`)
      .filter((line) => sinks.test(line)),
  );
  expect(found).toEqual([]);
});

test.each([
  'e.innerHTML = x',
  'e["outerHTML"]',
  'e.insertAdjacentHTML(a, b)',
  'document.writeln(x)',
  '{@html x}',
  'f.srcdoc = x',
  'e.setHTMLUnsafe(x)',
  'eval(x)',
  'new Function(x)',
  'import(x)',
])('it would be seen: %s', (line) => expect(line).toMatch(sinks));
