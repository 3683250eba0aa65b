import { formsOf } from './same-text.js';

/**
 * The source of a regular expression that matches a text literally, for MongoDB (PCRE2) and JavaScript.
 * NUL is escaped, since MongoDB refuses it in a pattern (fault 36).
 */
export function literalPattern(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00');
}

/**
 * Marks and letters that a decomposed character goes on with: combining marks, Korean vowels and finals. Without U+0345,
 * which in any case is also the Greek letter iota.
 */
const GOES_ON = '[\u0300-\u0344\u0346-\u036F\u1160-\u11FF]';

/**
 * Sources of expressions one of which matches where a text is found in a stored one, whichever form each is in
 * (same-text.ts). The decomposed form is not found at the beginning of another character: 가 is no part of 각.
 */
export function patternsOf(text: string): string[] {
  const [composed, ...others] = formsOf(text);
  return [literalPattern(composed), ...others.map((form) => `${literalPattern(form)}(?!${GOES_ON})`)];
}
