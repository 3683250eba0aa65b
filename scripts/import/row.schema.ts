import { z } from 'zod';
import { text, wholeNumber } from '../../domain/kernel/input.js';

/**
 * Highest id of an imported adoption post: later posts get higher numbers, which must also be exact in JSON.
 */
const MAX_ID = 1_000_000_000_000;

/** Text without surrounding white space. */
const trimmed = (max: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.trim() : value),
    // Invalid UTF-8 has become U+FFFD (source.ts).
    text(max).refine((value) => !value.includes('\uFFFD'), 'holds bytes that are not UTF-8'),
  );

/** A number, or its decimal text as in CSV. */
function number<T extends z.ZodType>(schema: T) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^-?\d{1,20}(\.\d{1,20})?$/.test(value) ? Number(value) : value),
    schema,
  );
}

/** A field that may be missing, null or empty. */
function optional<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === null || value === '' ? undefined : value), schema.optional());
}

const degrees = (most: number) => {
  const fault = `must be from -${most} to ${most}`;
  return number(z.number('must be a number').min(-most, fault).max(most, fault));
};

const email = z.preprocess(
  (value) => (typeof value === 'string' ? value.trim().toLowerCase() : value),
  z.email('must be an e-mail address').max(254, 'must have at most 254 characters'),
);

const memberRow = z.object({
  record: z.literal('member'),
  email,
  nickname: trimmed(50),
  profile: optional(trimmed(2_048)),
  role: optional(z.enum(['USER', 'ADMIN'], 'must be USER or ADMIN')),
});

const adoptionRow = z.object({
  record: z.literal('adoption'),
  id: optional(number(wholeNumber(1, MAX_ID))),
  title: trimmed(200),
  author: email,
  name: trimmed(100),
  age: trimmed(50),
  kind: trimmed(100),
  latitude: degrees(90),
  longitude: degrees(180),
  thumbnail: trimmed(2_048),
});

export const row = z.discriminatedUnion('record', [memberRow, adoptionRow], 'must be member or adoption');

export type MemberRow = z.output<typeof memberRow>;
export type AdoptionRow = z.output<typeof adoptionRow>;

/**
 * Checks one row; unknown fields are ignored.
 * @returns the row, or its faults, each as `field: fault`
 */
export function checkRow(value: unknown): { row: MemberRow | AdoptionRow } | { faults: string[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { faults: ['is not an object'] };
  }
  const parsed = row.safeParse(value);
  if (parsed.success) return { row: parsed.data };
  const given = value as Record<string, unknown>;
  const faults = parsed.error.issues.map(({ path, message }) => {
    const field = String(path[0]);
    const missing = given[field] === undefined || given[field] === null || given[field] === '';
    return `${field}: ${missing ? 'is missing' : message}`;
  });
  return { faults: [...new Set(faults)] };
}
