// Holds the built page to its size budget. Prints what it measured; fails when a budget is passed.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = process.env.DIST ?? new URL('../dist', import.meta.url).pathname;
const assets = readdirSync(join(dist, 'assets')).map((f) => join(dist, 'assets', f));
const zipped = (f) => gzipSync(readFileSync(f), { level: 9 }).length;
const sum = (files, size) => files.reduce((n, f) => n + size(f), 0);
const html = readFileSync(join(dist, 'index.html'), 'utf8');
const entry = assets.filter((f) => f.endsWith('.js') && html.includes(f.split('/').pop()));

const rows = [
  ['page script, before the first answer', sum(entry, zipped), 60_000],
  [
    'all scripts, with what is fetched later',
    sum(
      assets.filter((f) => f.endsWith('.js')),
      zipped,
    ),
    110_000,
  ],
  [
    'styles',
    sum(
      assets.filter((f) => f.endsWith('.css')),
      zipped,
    ),
    8_000,
  ],
  ['loader', zipped(join(dist, 'embed.js')), 3_000],
  [
    'fonts, not compressed',
    sum(
      assets.filter((f) => f.endsWith('.woff2')),
      (f) => statSync(f).size,
    ),
    100_000,
  ],
];
for (const [what, bytes, budget] of rows) {
  const over = bytes > budget;
  console.log(`${over ? 'OVER' : 'ok  '} ${what}: ${(bytes / 1000).toFixed(1)} of ${budget / 1000} KB`);
  if (over) process.exitCode = 1;
}
