import { CommandError, notServed } from '../values/errors.js';

/** What PCRE and JavaScript may read differently: escapes, classes, groups, quantifiers, anchors and lone brackets. */
const TOKEN =
  /\\(?:x[0-9a-fA-F]{2}|[pP]\{[A-Z][a-z]?\}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?.?|\*)|(?:[*+?]|\{\d+(?:,\d*)?\})\+?|[.^$[\]{}]/gsu;

const CLASS_TOKEN = /\\(?:x[0-9a-fA-F]{2}|[pP]\{[A-Z][a-z]?\}|.)|\[[:.=]/gsu;

/**
 * Compiles a pattern with MongoDB's options to a JavaScript RegExp that matches what PCRE would.
 * Throws NotImplemented (238) with the syntax that only PCRE has (\A, \Q, [[:alpha:]], (?i), option x, ...) and what
 * the two read differently (back references), 51091 for a pattern neither can read, 51108 for an unknown option.
 */
export function compileRegex(pattern: string, options: string): RegExp {
  if (pattern.includes('\0'))
    throw new CommandError(51091, 'Regular expression cannot contain an embedded null byte');
  for (const option of options) {
    if (option === 'x') throw notServed("the regular expression option 'x'");
    if (!'imsu'.includes(option)) throw new CommandError(51108, `invalid flag in regex options: ${option}`);
  }
  const source = pattern.replace(TOKEN, (token) => translate(token, options));
  try {
    // By code points, as PCRE in UTF mode. JavaScript's own m and s know more line ends than \n.
    return new RegExp(source, options.includes('i') ? 'iu' : 'u');
  } catch {
    throw new CommandError(51091, `Regular expression is invalid: ${pattern}`);
  }
}

function translate(token: string, options: string): string {
  switch (token) {
    case '.':
      return options.includes('s') ? '[^]' : '[^\\n]';
    case '^':
      return options.includes('m') ? '(?:^|(?<=\\n)(?!$))' : '^';
    case '$':
      return options.includes('m') ? '(?=\\n|$)' : '(?=\\n?$)';
    case '[':
    case '(?:':
    case '(?=':
    case '(?!':
      return token;
    case ']':
    case '{':
    case '}':
      return `\\${token}`;
  }
  if (token.startsWith('\\')) return translateEscape(token, false);
  if (token.startsWith('[')) return characterClass(token);
  if (token.startsWith('(') || (token.length > 1 && token.endsWith('+'))) throw onlyPcre(token);
  return token;
}

/** An escape; `inside` a class it stands among other characters. */
function translateEscape(token: string, inside: boolean): string {
  const character = token.slice(1);
  // PCRE's white space is ASCII's; JavaScript's has more.
  if (character === 's') return inside ? ' \\t-\\r' : '[ \\t-\\r]';
  if (character === 'S') return inside ? '\\0-\\x08\\x0e-\\x1f!-\\u{10ffff}' : '[^ \\t-\\r]';
  if (/^[dDwWbBnrtf]$/.test(character) || /^[xpP]./.test(character)) return token;
  if (/^[a-zA-Z0-9]/.test(character)) throw onlyPcre(token);
  if (/^[\^$\\.*+?()[\]{}|/]$/.test(character) || (inside && character === '-')) return token;
  return character;
}

function characterClass(token: string): string {
  const [, open = '', first = '', rest = ''] = /^(\[\^?)(\]?)(.*)$/s.exec(token) ?? [];
  const translated = rest.replace(CLASS_TOKEN, (part) => {
    if (part.startsWith('[')) throw onlyPcre(token);
    return translateEscape(part, true);
  });
  // A bracket that comes first is a member.
  return open + (first && '\\]') + translated;
}

function onlyPcre(syntax: string): CommandError {
  return notServed(`the regular expression syntax '${syntax}'`);
}

/**
 * The literal text every match of `^text...` begins with, or undefined when the pattern does not say one.
 * Such a pattern is a range of an index ("Index Use" of $regex in the manual).
 */
export function literalPrefix(source: { pattern: string; options: string }): string | undefined {
  if (/[im]/.test(source.options) || source.pattern.includes('|')) return undefined;
  const match = /^\^((?:[^\\^$.|?*+()[\]{}]|\\[^\w])*)([?*{])?/u.exec(source.pattern);
  let literal = match?.[1]?.replace(/\\(.)/gsu, '$1') ?? '';
  // A quantifier makes the last character optional.
  if (match?.[2]) literal = [...literal].slice(0, -1).join('');
  return literal === '' ? undefined : literal;
}
