import type { Preview, View } from './wire';

/**
 * What a result calls the object that the page looks at, or undefined if it says nothing of it. Results name their
 * object under its type, by id, uuid or slug; a name in an address may be old, or never have been true.
 */
export function nameIn(preview: Preview | undefined, view: View): string | undefined {
  const { objectType, objectId } = view;
  const result = preview?.object;
  if (!objectType || !objectId || typeof result !== 'object' || result === null || Array.isArray(result))
    return undefined;
  const o = result[objectType];
  if (typeof o !== 'object' || o === null || Array.isArray(o)) return undefined;
  if (![o.id, o.uuid, o.slug].some((v) => (typeof v === 'string' || typeof v === 'number') && String(v) === objectId))
    return undefined;
  const name = o.title ?? o.name;
  return typeof name === 'string' && name !== '' ? name : undefined;
}
