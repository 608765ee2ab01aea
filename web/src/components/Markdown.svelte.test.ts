// @vitest-environment jsdom
import { render } from '@testing-library/svelte';
import { flushSync } from 'svelte';
import { expect, test } from 'vitest';
import Host from '../../tests/Host.svelte';
import { draw, fakeApp } from '../../tests/page';
import { hostile } from '../../tests/hostile';
import Markdown from './Markdown.svelte';

const doc =
  '# Hi &amp; bye\n\nText **bold** and `code`.\n\n- a\n- b\n  - c\n\n```sql\nSELECT 1 -- <b>\n```\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n\n> quote\n\n1. one\n2. two\n\n[y](https://e.example/)\n\nEnd.\n';
const markup = (e: Element) => e.innerHTML.replace(/<!--.*?-->/g, '');

test.each([1, 2, 3, 7, 16, 50])('streamed %i characters at a time, the page is the same as at once', async (size) => {
  const { app } = fakeApp();
  const whole = draw(app, Markdown, { text: doc, live: false });
  const want = markup(whole.container);
  whole.unmount();
  const props = { text: '', live: true };
  const r = render(Host, { props: { app, child: Markdown as never, given: props } });
  for (let at = size; at < doc.length + size; at += size) {
    await r.rerender({ app, child: Markdown as never, given: { text: doc.slice(0, at), live: true } });
  }
  await r.rerender({ app, child: Markdown as never, given: { text: doc, live: false } });
  flushSync();
  expect(markup(r.container)).toBe(want);
});

test('a block that grows keeps its nodes, so a selection in it survives', async () => {
  const { app } = fakeApp();
  const at = (text: string) => ({ app, child: Markdown as never, given: { text, live: true } });
  const r = render(Host, { props: at('Hello **bold** wor') });
  flushSync();
  const p = r.container.querySelector('p');
  const first = p?.firstChild;
  await r.rerender(at('Hello **bold** world, and *more*'));
  expect(r.container.querySelector('p')).toBe(p);
  expect(p?.firstChild).toBe(first);
  expect(p?.textContent).toBe('Hello bold world, and more');
});

const allowed = new Set(
  'A BLOCKQUOTE BR BUTTON CODE DEL DIV EM FIGCAPTION FIGURE H3 H4 H5 H6 HR LI OL P PATH PRE SPAN STRONG SVG TABLE TBODY TD TH THEAD TR UL'.split(
    ' ',
  ),
);

test.each(hostile)('hostile text %#: %s', (text) => {
  const { container } = draw(fakeApp().app, Markdown, { text, live: false });
  flushSync();
  for (const e of container.querySelectorAll('*')) {
    expect(allowed, e.outerHTML).toContain(e.tagName.toUpperCase());
    for (const a of e.attributes) {
      expect(a.name, e.outerHTML).not.toMatch(/^on|^style$|^src|^id$|^name$|^action|^formaction|^srcdoc/i);
    }
    const href = e.getAttribute('href');
    if (href !== null) {
      expect(href).toMatch(/^(https?:\/\/|mailto:|#|\/(?![/\\]))/);
      expect(e.getAttribute('rel')).toContain('noopener');
    }
  }
});

test('the list is long enough to mean something', () => {
  expect(new Set(hostile).size).toBeGreaterThanOrEqual(60);
});
