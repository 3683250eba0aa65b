/**
 * An answer has two parts: what rules judge, which the history keeps by name, and the rest, which the header and the kept
 * part determine. Of a rest that is as it must be, the history keeps a hash, else all of it.
 */
export type Rest = unknown[];

/** What JSON values a field that is kept may have: safe integers, texts, true or false. */
type Kind = 'int' | 'text' | 'flag';

type Taken<K extends Record<string, Kind>> = {
  [F in keyof K]: K[F] extends 'int' ? number : K[F] extends 'text' ? string : boolean;
};

const NONE = { int: 0, text: '', flag: false };

const isOf = (kind: Kind, value: unknown): boolean =>
  kind === 'int'
    ? Number.isSafeInteger(value)
    : kind === 'text'
      ? typeof value === 'string'
      : typeof value === 'boolean';

/** As an object; anything else is no record, and becomes the single field of one. */
const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ...value }
    : { 'no object': value ?? null };

/**
 * Takes fields out of a record. One that is missing or of another kind is 0, empty or false, and what it is stays in the
 * rest, where nothing is expected.
 *
 * @returns the fields, and the rest of the record
 */
export function take<const K extends Record<string, Kind>>(
  value: unknown,
  kinds: K,
): [Taken<K>, Record<string, unknown>] {
  const rest = recordOf(value);
  const taken: Record<string, unknown> = {};
  for (const [field, kind] of Object.entries(kinds)) {
    if (isOf(kind, rest[field])) {
      taken[field] = rest[field];
      delete rest[field];
    } else {
      taken[field] = NONE[kind];
      rest[field] ??= 'missing';
    }
  }
  return [taken as Taken<K>, rest];
}

/** Takes a list out of a record; if it is none, it is empty and stays in the rest. @param rest is changed */
export function takeList(rest: Record<string, unknown>, field: string): unknown[] {
  const list = rest[field];
  if (!Array.isArray(list)) {
    rest[field] ??= 'missing';
    return [];
  }
  delete rest[field];
  return list;
}

/** The same text for equal JSON values, whatever the order of their fields. Undefined counts as absent. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const record = value as Record<string, unknown>;
  const fields = Object.keys(record)
    .filter((name) => record[name] !== undefined)
    .sort();
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(record[name])}`).join()}}`;
}

/** A short hash of a text (FNV-1a, 32 bits): it finds mistakes, not forgeries. */
export function shortHash(text: string): string {
  let hash = 2_166_136_261;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619);
  return (hash >>> 0).toString(36);
}

/** How the history keeps a rest: absent if there is none and is to be none, as a hash if it is as expected, else as it is. */
export function condense(rest: Rest, expected: Rest): Rest | string | undefined {
  const text = canonical(expected);
  if (canonical(rest) !== text) return rest;
  return expected.length === 0 ? undefined : shortHash(text);
}

/** The differences between two JSON values, as a violation prints them: a field each. */
export function differences(is: unknown, expected: unknown, path = ''): string[] {
  if (canonical(is) === canonical(expected)) return [];
  if (typeof is !== 'object' || typeof expected !== 'object' || !is || !expected)
    return [`${path || 'it'} is ${canonical(is)}, and must be ${canonical(expected)}`];
  const [a, b] = [is, expected] as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) => {
    const at = path ? `${path}.${name}` : name;
    if (a[name] === undefined && b[name] !== undefined)
      return [`${at} is missing, and must be ${canonical(b[name])}`];
    if (b[name] === undefined && a[name] !== undefined)
      return [`${at} is ${canonical(a[name])}, and must not be there`];
    return differences(a[name], b[name], at);
  });
}
