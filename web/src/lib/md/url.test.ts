import { expect, test } from 'vitest';
import { decode, safeHref } from './url';

test.each([
  ['https://a.example/b?c=d#e', 'https://a.example/b?c=d#e'],
  ['http://a.example/', 'http://a.example/'],
  ['mailto:a@example.com', 'mailto:a@example.com'],
  ['/superset/dashboard/1/', '/superset/dashboard/1/'],
  ['#part', '#part'],
  ['javascript:alert(1)', null],
  ['JaVaScRiPt:alert(1)', null],
  ['  java\nscript:alert(1)', null],
  ['\u0001javascript:alert(1)', null],
  ['java\u0000script:alert(1)', null],
  ['vbscript:x', null],
  ['data:text/html,<script>', null],
  ['data:image/svg+xml,<svg onload=x>', null],
  ['blob:https://a/b', null],
  ['file:///etc/passwd', null],
  ['//evil.example', null],
  ['/\\evil.example', null],
  ['/\t/evil.example', null],
  ['\\\\evil.example', null],
  ['evil.example', null],
  ['ftp://a/', null],
  ['intent://x', null],
  ['https://bi.example.com@evil.example/', null],
  ['https://user:pass@bi.example.com/', null],
  ['https://', null],
  ['', null],
])('%j leads to %j', (href, want) => {
  expect(safeHref(href)).toBe(want);
});

test.each([
  ['a &amp; b &lt;c&gt; &#65;&#x42; &nope; &#0; &#x110000;', 'a & b <c> AB &nope; &#0; &#x110000;'],
  ['plain', 'plain'],
])('%j is read as %j', (s, want) => {
  expect(decode(s)).toBe(want);
});
