/** A random name of 128 bits. Works on plain http too, where crypto.randomUUID does not exist. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}
