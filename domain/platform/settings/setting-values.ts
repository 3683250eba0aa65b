/** The kinds of values that settings have, each with one line that says what is wrong. */
import { z } from 'zod';
import { parseRedisUrl } from '../redis/url.js';

/** One of these words. */
export const oneOf = <const T extends [string, string, ...string[]]>(...words: T) =>
  z.enum(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);

export const onOff = oneOf('on', 'off');

/** A whole number, in digits: a blank or `0x50` is a mistake, not 0 or 80. */
export function whole(low: number, high: number) {
  const fault = `must be a whole number from ${low} to ${high}`;
  return z
    .string()
    .regex(/^(0|[1-9]\d{0,9})$/, fault)
    .transform(Number)
    .refine((number) => number >= low && number <= high, fault);
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `off`, or a span of time, in ms. */
export const offOrSpan = z
  .string()
  .regex(/^(?:off|[1-9]\d{0,4}[smhd])$/, 'must be off, or a span such as 30m, 12h or 7d')
  .transform((text) =>
    text === 'off' ? 'off' : Number(text.slice(0, -1)) * UNITS_MS[text.slice(-1) as keyof typeof UNITS_MS],
  );

export const mongoUri = z
  .string()
  .regex(/^mongodb(\+srv)?:\/\/[^/\s]+/, 'must look like mongodb://host:27017/database');

export const redisUrl = z.string().superRefine((url, check) => {
  try {
    parseRedisUrl(url);
  } catch (error) {
    check.addIssue({ code: 'custom', message: (error as Error).message });
  }
});

export const timeZone = z.string().refine((name) => {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}, 'must be an IANA time zone such as Asia/Seoul');

/** `localhost:3000` is a URL of the scheme `localhost`; its origin is `null`, as for any sandboxed page. */
function isWebOrigin(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** `*`, or origins such as `https://app.example.org`, comma-separated. */
export const origins = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((origin) => origin.trim())
      .filter(Boolean),
  )
  .refine(
    (list) => list.length > 0 && list.every((origin) => origin === '*' || isWebOrigin(origin)),
    'must be * or a comma-separated list of origins such as https://app.example.org',
  )
  .transform((list) => list.map((origin) => (origin === '*' ? origin : new URL(origin).origin)));
