import { expect } from 'chai';
import { buildEngine, find, runCommand } from './run-command.js';

/** Patterns of PCRE with what they match there (perldoc perlre; pcre2pattern), or undefined where they are refused. */
const patterns: [pattern: string, options: string, text: string, matches: boolean | undefined][] = [
  ['abc$', '', 'abc\n', true],
  ['abc$', '', 'abc\n\n', false],
  ['^b$', 'm', 'a\nb\nc', true],
  ['^b', 'm', 'a\rb', false],
  ['^$', 'm', 'a\n', false],
  ['a.c', '', 'a\rc', true],
  ['a.c', '', 'a\nc', false],
  ['a.c', 's', 'a\nc', true],
  ['^a\\sb$', '', 'a b', true],
  ['^a\\sb$', '', 'a\u00a0b', false],
  ['^[\\s]$', '', '\u00a0', false],
  ['^[\\S]$', '', '\u00a0', true],
  ['^[^\\S]$', '', '\t', true],
  ['a\\-b\\_\\"\\/', '', 'a-b_"/', true],
  ['^[]a]+$', '', ']a', true],
  ['[^]a]', '', ']', false],
  ['^a{$', '', 'a{', true],
  ['^a{,3}$', '', 'a{,3}', true],
  ['^a{2,3}$', '', 'aaaa', false],
  ['^}]$', '', '}]', true],
  ['^.$', '', '\u{1f600}', true],
  ['^\\p{L}+$', '', '고양이', true],
  ['^\\x41$', '', 'A', true],
  ['(?:a|b)(?=c)(?!d)', '', 'bc', true],
  ['STRASSE', 'i', 'strasse', true],
  ...[
    '\\A',
    '\\z',
    '\\Z',
    '\\Qa\\E',
    '\\h',
    '\\R',
    '\\K',
    '\\G',
    '\\X',
    '\\v',
    '\\a',
    '\\e',
    '\\N',
    '\\0',
    '\\07',
  ].map(refusedPattern),
  ...[
    '[[:alpha:]]',
    '[[:^digit:]]',
    '(?i)a',
    '(?i:a)',
    '(?>a)',
    '(?P<n>a)',
    '(?<n>a)',
    '(?<=a)b',
    '(?<!a)b',
  ].map(refusedPattern),
  ...[
    '(?#c)a',
    '(?|a)',
    '(?R)',
    '(*UCP)a',
    'a++',
    'a*+',
    'a?+',
    'a{2}+',
    '(a)\\1',
    '\\x{41}',
    '\\u0041',
    '\\p{Greek}',
  ].map(refusedPattern),
];

function refusedPattern(pattern: string): [string, string, string, undefined] {
  return [pattern, '', 'a', undefined];
}

describe('embedded database: what regular expressions match', () => {
  it(`${patterns.length} regular expressions match as in PCRE, or are refused with the syntax in the text`, async () => {
    const engine = buildEngine();
    for (const [i, [pattern, options, text, matches]] of patterns.entries()) {
      await runCommand(engine, { insert: 'c', documents: [{ _id: i, text }] });
      const filter = { _id: i, text: { $regex: pattern, $options: options } };
      const label = `/${pattern}/${options} on ${JSON.stringify(text)}`;
      if (matches === undefined) {
        const failure = await find(engine, 'c', { filter }).catch((error) => error);
        expect(failure.reply, label).to.include({ code: 238 });
        expect(failure.message, label).to.match(/the regular expression syntax '.+' is not served/);
      } else expect(await find(engine, 'c', { filter }), label).to.have.lengthOf(matches ? 1 : 0);
    }
    await engine.close();
  });
});
