/**
 * The source of a regular expression that matches a text literally, for MongoDB (PCRE2) and for
 * JavaScript. NUL is spelled out because MongoDB refuses it raw in a pattern (fault 36).
 *
 * @param literal any text, a person's search word for example
 */
export function literalPattern(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00');
}
