import { typeName } from '../values/bson-types.js';
import { notServed } from '../values/errors.js';

/**
 * Literal text: syntax characters are escaped, any character may be spelled `\xHH`; `^` may stand at the beginning, and
 * at the end characters that must not follow, `(?![a-z])`.
 */
const LITERAL =
  /^\^?(?:[^\\^$.|?*+()[\]{}]|\\[\\^$.|?*+()[\]{}/]|\\x[\da-fA-F]{2})*(?:\(\?!\[[^\\^[\]]+\]\))?$/u;

/** A client's value in an error text. */
const shown = (value: unknown) => (typeof value === 'string' ? value : typeName(value));

/**
 * Compiles a MongoDB pattern that means the same in JavaScript: literal text, anywhere or at the beginning of
 * a string, with or without characters that must not follow, and with or without the option `i`. Throws NotImplemented (238) for anything else.
 */
export function compileRegex(pattern: unknown, options: unknown): RegExp {
  const isServed = typeof pattern === 'string' && LITERAL.test(pattern) && !pattern.includes('\0');
  if (!isServed || (options !== '' && options !== 'i'))
    throw notServed(`the regular expression /${shown(pattern)}/${shown(options)}`);
  try {
    return new RegExp(pattern, `${options}u`);
  } catch {
    // A range that is out of order.
    throw notServed(`the regular expression /${pattern}/${options}`);
  }
}
