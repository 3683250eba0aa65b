import { z } from 'zod';
import { AppError } from './errors.js';

/** A record's number in a body: a positive integer that JSON carries exactly. */
export const id = z.int('must be a whole number').positive('must be a positive number');

/** The same as decimal text in a path or query: digits alone, no sign, no leading zero, no exponent. */
export const pathId = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, 'must be a positive whole number')
  .transform(Number)
  .refine(Number.isSafeInteger, 'must be a whole number below 2^53');

/** In a Unicode-aware expression a surrogate matches only where its partner is missing. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Text of a person. Lone surrogates are refused because UTF-8 cannot store them: they would come
 * back as other characters than were sent.
 *
 * @param max longest accepted, in UTF-16 code units
 */
export function text(max: number, min = 1) {
  return z
    .string('must be text')
    .min(min, min === 1 ? 'must not be empty' : `must have at least ${min} characters`)
    .max(max, `must have at most ${max} characters`)
    .refine((value) => !LONE_SURROGATE.test(value), 'must be well-formed Unicode')
    .refine((value) => min === 0 || value.trim().length > 0, 'must not be blank');
}

/** How many faults one answer names: enough to mend a form, too few to be used as an amplifier. */
const MAX_FAULTS = 10;

/**
 * Checks raw input and returns the parsed value, the only form that goes further in.
 *
 * @param where what the input is called in a fault that concerns the whole of it, e.g. `body`
 * @throws AppError INVALID_INPUT with one text per fault, `field: what is wrong`
 */
export function parseInput<T extends z.ZodType>(schema: T, raw: unknown, where: string): z.output<T> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.slice(0, MAX_FAULTS).map((issue) => {
    const path = issue.path.map((part, i) =>
      typeof part === 'number' ? `[${part}]` : i ? `.${String(part)}` : part,
    );
    const missing =
      issue.code === 'invalid_type' && issue.input === undefined && /received undefined/.test(issue.message);
    return `${path.join('') || where}: ${missing ? 'is missing' : issue.message}`;
  });
  throw new AppError('INVALID_INPUT', faults);
}
