import type { Json } from './json';

/** Says what in an answer of the server is not as agreed. */
export class Malformed extends Error {
  constructor(where: string, want: string) {
    super(`${where || 'value'}: expected ${want}`);
    this.name = 'Malformed';
  }
}

/** A reader turns a parsed value into a typed one, or throws Malformed. */
export type Reader<T> = (v: unknown, where: string) => T;
export type Read<R> = R extends Reader<infer T> ? T : never;

export const str: Reader<string> = (v, where) => {
  if (typeof v !== 'string') throw new Malformed(where, 'text');
  return v;
};

export const num: Reader<number> = (v, where) => {
  if (typeof v !== 'number') throw new Malformed(where, 'a number');
  return v;
};

export const bool: Reader<boolean> = (v, where) => {
  if (typeof v !== 'boolean') throw new Malformed(where, 'true or false');
  return v;
};

export const json: Reader<Json> = (v, where) => {
  if (v === undefined) throw new Malformed(where, 'a value');
  return v as Json;
};

/** Absent and null mean the same: nothing. */
export const opt =
  <T>(r: Reader<T>): Reader<T | undefined> =>
  (v, where) =>
    v === undefined || v === null ? undefined : r(v, where);

/** A list; an empty Go slice arrives as null. */
export const list =
  <T>(r: Reader<T>): Reader<T[]> =>
  (v, where) => {
    if (v === undefined || v === null) return [];
    if (!Array.isArray(v)) throw new Malformed(where, 'a list');
    return v.map((x, i) => r(x, `${where}[${i}]`));
  };

/** One of a closed set. */
export const one =
  <const T extends string>(...words: T[]): Reader<T> =>
  (v, where) => {
    if (!words.includes(v as T)) throw new Malformed(where, words.join(' or '));
    return v as T;
  };

type Shape = Record<string, Reader<unknown>>;
type Needed<S extends Shape> = { [K in keyof S as undefined extends Read<S[K]> ? never : K]: Read<S[K]> };
type Perhaps<S extends Shape> = { [K in keyof S as undefined extends Read<S[K]> ? K : never]?: Read<S[K]> };
type Flat<T> = { [K in keyof T]: T[K] };

/** An object with these fields; others are ignored, so that the server may add some. */
export const obj =
  <S extends Shape>(shape: S): Reader<Flat<Needed<S> & Perhaps<S>>> =>
  (v, where) => {
    if (typeof v !== 'object' || v === null || Array.isArray(v)) throw new Malformed(where, 'an object');
    const out: Record<string, unknown> = {};
    for (const key in shape) {
      const value = shape[key]?.((v as Record<string, unknown>)[key], where ? `${where}.${key}` : key);
      if (value !== undefined) out[key] = value;
    }
    return out as Flat<Needed<S> & Perhaps<S>>;
  };
