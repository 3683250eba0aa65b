import { z } from 'zod';
import { NO_IMAGE_ADDRESS } from '../../domain/kernel/image-address.js';
import { imageAddress, text, wholeNumber } from '../../domain/kernel/input.js';
import { MAX_NAME, MAX_PICTURE, shownName, shownPicture } from '../../domain/members/index.js';

/** Text without surrounding white space. Invalid UTF-8 has become U+FFFD (source.ts). */
const trim = <T extends z.ZodType<string>>(schema: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.trim() : value),
    schema.refine((value) => !value.includes('\uFFFD'), 'holds bytes that are not UTF-8'),
  );

const trimmed = (max: number) => trim(text(max));

/**
 * Text that others see of a member: what a token's claim is made into, but one that is too long is refused, as its
 * operator can correct it.
 */
const shown = (max: number, show: (text: string) => string | undefined, fault: string) =>
  trim(z.string('must be text').max(max, `must have at most ${max} characters`))
    .transform((value) => show(value) ?? '')
    .refine((value) => value !== '', fault);

/** A decimal number as spreadsheets write it in CSV: `37.5`, `3.75E+01`. */
const DECIMAL = /^-?\d{1,20}(\.\d{1,20})?(?<exponent>E[+-]?\d{1,3})?$/i;

/** A number, or its decimal text. */
function number<T extends z.ZodType>(schema: T) {
  return z.preprocess(
    (value) => (typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value),
    schema,
  );
}

/** The number of a post. A spreadsheet rounds one of more than 11 digits that it writes with an exponent. */
const postId = z
  .unknown()
  .refine((value) => !(typeof value === 'string' && DECIMAL.exec(value)?.groups?.exponent), {
    error: ({ input }) =>
      `${input} may have lost digits: in the spreadsheet, show this column as numbers without decimals, and export again`,
    abort: true,
  })
  .pipe(number(wholeNumber(1)));

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
  nickname: shown(MAX_NAME, shownName, 'must not be blank'),
  profile: optional(shown(MAX_PICTURE, shownPicture, NO_IMAGE_ADDRESS)),
  role: optional(z.enum(['USER', 'ADMIN'], 'must be USER or ADMIN')),
});

const adoptionRow = z.object({
  record: z.literal('adoption'),
  id: optional(postId),
  title: trimmed(200),
  author: email,
  name: trimmed(100),
  age: trimmed(50),
  kind: trimmed(100),
  latitude: degrees(90),
  longitude: degrees(180),
  thumbnail: trim(imageAddress(2_048)),
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
