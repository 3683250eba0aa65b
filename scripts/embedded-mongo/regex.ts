import { CommandError } from './errors.js';

/** Removes white space and comments outside character classes: PCRE's extended mode, which JavaScript lacks. */
function stripExtended(pattern: string): string {
  return pattern.replace(
    /(\\.|\[(?:\\.|[^\]\\])*\])|\s+|#[^\n]*(?:\n|$)/gs,
    (_, kept: string | undefined) => kept ?? '',
  );
}

/**
 * Compiles a pattern with MongoDB's options (i, m, s, x, u) to a JavaScript RegExp.
 * Throws 51091 for a pattern JavaScript cannot read and 51108 for an unknown option. PCRE-only syntax is so
 * refused, never read as something else.
 */
export function compileRegex(pattern: string, options: string): RegExp {
  if (pattern.includes('\0'))
    throw new CommandError(51091, 'Regular expression cannot contain an embedded null byte');
  let flags = '';
  for (const option of new Set(options)) {
    if (option === 'i' || option === 'm' || option === 's') flags += option;
    else if (option !== 'x' && option !== 'u')
      throw new CommandError(51108, `invalid flag in regex options: ${option}`);
  }
  const source = options.includes('x') ? stripExtended(pattern) : pattern;
  // By code points like PCRE in UTF mode; patterns with needless escapes are only valid without that flag.
  for (const unicode of ['u', '']) {
    try {
      return new RegExp(source, flags + unicode);
    } catch {}
  }
  throw new CommandError(51091, `Regular expression is invalid: ${pattern}`);
}

/**
 * The literal text every match of `^text...` begins with, or undefined when the pattern does not say one.
 * Such a pattern is a range of an index ("Index Use" of $regex in the manual).
 */
export function literalPrefix(source: { pattern: string; options: string }): string | undefined {
  if (/[imx]/.test(source.options) || source.pattern.includes('|')) return undefined;
  const match = /^(?:\^|\\A)((?:[^\\^$.|?*+()[\]{}\0]|\\[^\w])*)([?*{])?/.exec(source.pattern);
  let literal = match?.[1]?.replace(/\\(.)/gs, '$1') ?? '';
  // A quantifier makes the last character optional.
  if (match?.[2]) literal = [...literal].slice(0, -1).join('');
  return literal === '' ? undefined : literal;
}
