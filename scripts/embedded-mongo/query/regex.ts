import { notServed } from '../values/errors.js';

/** Literal text: syntax characters are escaped, any character may be spelled `\xHH`; `^` may stand at the beginning. */
const LITERAL = /^\^?(?:[^\\^$.|?*+()[\]{}]|\\[\\^$.|?*+()[\]{}/]|\\x[\da-fA-F]{2})*$/u;

/**
 * Compiles a pattern of MongoDB's that means the same in JavaScript: literal text, by itself or at the beginning of a
 * string, with or without the option `i`. Throws NotImplemented (238) for anything else.
 */
export function compileRegex(pattern: unknown, options: unknown): RegExp {
  const isServed = typeof pattern === 'string' && LITERAL.test(pattern) && !pattern.includes('\0');
  if (!isServed || (options !== '' && options !== 'i'))
    throw notServed(`the regular expression /${String(pattern)}/${String(options)}`);
  return new RegExp(pattern, `${options}u`);
}
