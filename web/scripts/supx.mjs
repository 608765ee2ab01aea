// Packs extension/ for Superset's EXTENSIONS_PATH: node scripts/supx.mjs OUT.supx
//
// Superset lets browsers keep an extension's files for a year, so the entry's name carries its hash; and it skips a
// bundle that holds any file it does not expect, so only the two are in it. The same input gives the same bytes.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';

const out = process.argv[2];
if (!out) {
  console.error('usage: node scripts/supx.mjs OUT.supx');
  process.exit(2);
}
const dir = new URL('../extension/', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('manifest.json', dir), 'utf8'));
const entry = readFileSync(new URL(manifest.frontend.remoteEntry, dir));
const name = `remoteEntry.${createHash('sha256').update(entry).digest('hex').slice(0, 16)}.js`;
manifest.frontend.remoteEntry = name;

/** A zip of stored files: two small texts are not worth compressing. */
function zip(files) {
  const locals = [];
  const central = [];
  let at = 0;
  for (const [path, data] of files) {
    const file = Buffer.from(path);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0); // version that is needed
    common.writeUInt16LE(0x21, 8); // 1980-01-01: no clock in the bytes
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(file.length, 22);
    locals.push(Buffer.from('PK\x03\x04'), common, file, data);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    central.push(Buffer.from('PK\x01\x02\x14\x00'), common, tail, file);
    at += 30 + file.length + data.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end]);
}

mkdirSync(dirname(out), { recursive: true });
writeFileSync(
  out,
  zip([
    ['manifest.json', Buffer.from(JSON.stringify(manifest))],
    [`frontend/dist/${name}`, entry],
  ]),
);
console.log(`${out}: ${name}`);
