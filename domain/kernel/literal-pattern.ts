/**
 * The source of a regular expression that matches a text literally, for MongoDB (PCRE2) and JavaScript.
 * NUL is escaped, since MongoDB refuses it in a pattern (fault 36).
 */
export function literalPattern(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00');
}
