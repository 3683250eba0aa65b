import { z } from 'zod';
import { AppError } from './errors.js';
import { isImageAddress, NO_IMAGE_ADDRESS } from './image-address.js';

/** Digits only: no sign, blank, point or exponent. */
const DIGITS = /^\d+$/;

const INEXACT = 'must be a whole number below 2^53';

/**
 * A whole number in a body, exact in JSON. Digits as text are accepted: the legacy app sends numbers that
 * way. (contract, section 2)
 *
 * @param max default 2^53 - 1
 */
export function wholeNumber(min: 0 | 1 = 0, max?: number) {
  const number = z
    .int({ error: ({ code }) => (code === 'too_big' ? INEXACT : 'must be a whole number') })
    .min(min, min === 0 ? 'must not be negative' : 'must be a positive number');
  return z.preprocess(
    (value) => (typeof value === 'string' && DIGITS.test(value) ? Number(value) : value),
    max === undefined ? number : number.max(max, `must be at most ${max}`),
  );
}

/** A record's number, in a body. */
export const id = wholeNumber(1);

/** A record's number, in a path or query: decimal digits without a leading zero. */
export const pathId = z
  .string('must be sent once')
  .regex(/^[1-9]\d{0,15}$/, 'must be a positive whole number')
  .transform(Number)
  .refine(Number.isSafeInteger, INEXACT);

/** In a Unicode-aware expression, matches only surrogates without their partner. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Text written by a person. Lone surrogates are refused: UTF-8 cannot represent them, so other characters
 * would be read back.
 *
 * @param max in code points, as `maxLength` of JSON Schema and OpenAPI counts: an emoji may have one or several
 */
export function text(max: number, min = 1) {
  return z
    .string('must be text')
    .min(min, min === 1 ? 'must not be empty' : `must have at least ${min} characters`)
    .max(max, `must have at most ${max} characters`)
    .refine((value) => !LONE_SURROGATE.test(value), 'must be well-formed Unicode')
    .refine((value) => min === 0 || value.trim().length > 0, 'must not be blank');
}

/** The address of an image. @param max in code points */
export function imageAddress(max: number, min = 1) {
  return text(max, min).refine(isImageAddress, NO_IMAGE_ADDRESS);
}

/** Faults per response: enough to correct a form, too few for an amplification attack. */
const MAX_FAULTS = 10;

/** The value at a path of the raw input. */
function valueAt(raw: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? value[part as keyof typeof value]
        : undefined,
    raw,
  );
}

/** Describes a fault; zod reports a missing value as one of the wrong type. */
function faultOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return 'is missing';
  const isWhole = issue.path.length === 0 && issue.code === 'invalid_type' && issue.expected === 'object';
  return isWhole ? 'must be an object' : issue.message;
}

/**
 * Validates raw input; only the parsed value is passed on.
 *
 * @param where name of the input in faults that concern all of it, such as `body`
 * @throws AppError INVALID_INPUT with one text per fault, `field: what is wrong`
 */
export function parseInput<T extends z.ZodType>(schema: T, raw: unknown, where: string): z.output<T> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.slice(0, MAX_FAULTS).map((issue) => {
    const path = issue.path.map((part, i) =>
      typeof part === 'number' ? `[${part}]` : i ? `.${String(part)}` : part,
    );
    return `${path.join('') || where}: ${faultOf(issue, valueAt(raw, issue.path))}`;
  });
  throw new AppError('INVALID_INPUT', faults);
}
