import { expect } from 'chai';
import { useEngine } from '../support/run-command.js';

/** The source of a regular expression that matches a text literally. */
const literalPattern = (text: string) =>
  text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00');

/** Composed, and decomposed unless marks or letters follow that a character goes on with. */
const patternsOf = (text: string) => [
  literalPattern(text.normalize('NFC')),
  `${literalPattern(text.normalize('NFD'))}(?![\u0300-\u0344\u0346-\u036F\u1160-\u11FF])`,
];

/** Patterns with a text and whether they match it, or undefined where they are refused. */
const patterns: [pattern: string, options: string, text: string, matches: boolean | undefined][] = [
  ['b', '', 'abc', true],
  ['b', '', 'aBc', false],
  ['B', 'i', 'abc', true],
  ['É', 'i', 'é', true],
  ['^b', '', 'abc', false],
  ['^ab', '', 'abc', true],
  ['^', '', 'x', true],
  ['', '', 'x', true],
  ['고', '', '고양이', true],
  ['\u{1f600}', '', 'a\u{1f600}', true],
  ['a\\.b', '', 'a.b', true],
  ['a\\.b', '', 'axb', false],
  ['\\x41', '', 'A', true],
  ['a\\/b', '', 'a/b', true],
  ['a-b_"/&\n', '', 'a-b_"/&\n', true],
  ['a(?![b-d])', '', 'ab', false],
  ['a(?![b-d])', '', 'abae', true],
  ['A(?![\u0300-\u0344])', 'i', 'xa', true],
  ...[
    'a|b',
    'a.',
    '.a',
    'a*',
    'a+',
    'a?',
    '(a)',
    '[a]',
    'a]',
    'a{2}',
    '}',
    'a^',
    'a$',
    '(?![b])c',
    '(?=[b])',
    '(?![^b])',
    '(?![\\d])',
    '(?![z-a])',
    '\\d',
    '\\a',
    '\\-',
  ].map((pattern): [string, string, string, undefined] => [pattern, '', 'a', undefined]),
  ...['\\', '\\x4', 'a\0', '\\u{41}'].map((pattern): [string, string, string, undefined] => [
    pattern,
    '',
    'a',
    undefined,
  ]),
  ...['m', 's', 'x', 'u', 'g', 'im', 'ii'].map((options): [string, string, string, undefined] => [
    'a',
    options,
    'a',
    undefined,
  ]),
];

describe('embedded database: regular expressions', () => {
  const { run, find, failureOf } = useEngine();
  it('literal text, anywhere or at the beginning; everything else is refused by name', async () => {
    for (const [i, [pattern, options, text, matches]] of patterns.entries()) {
      const label = `/${pattern}/${options} on ${JSON.stringify(text)}`;
      const command = { find: `c${i}`, filter: { a: { $regex: pattern, $options: options } } };
      await run({ insert: `c${i}`, documents: [{ _id: 1, a: text }] });
      if (matches === undefined) {
        const reply = await failureOf(command);
        expect(reply, label).to.include({ code: 238 });
        expect(reply.errmsg).to.contain(`/${pattern}/${options} is not served`);
      } else expect(await find(`c${i}`, command), label).to.have.lengthOf(matches ? 1 : 0);
    }
  });

  it('any text by its literal pattern', async () => {
    const texts = ['', '\\', '^$.*+?()[]{}|/', 'a\0b', 'a-b', '\\d', '안녕', '%_"\''];
    await run({ insert: 'c', documents: texts.map((text, _id) => ({ _id, a: `<${text}>` })) });
    for (const [i, text] of texts.entries()) {
      const filter = { a: { $regex: literalPattern(`<${text}>`), $options: 'i' } };
      expect(
        (await find('c', { filter })).map(({ _id }) => _id),
        text,
      ).to.deep.equal([i]);
    }
  });

  it('any text in any form of Unicode', async () => {
    const texts = ['각'.normalize('NFC'), '각'.normalize('NFD'), '가'.normalize('NFD')];
    await run({ insert: 'forms', documents: texts.map((a, _id) => ({ _id, a })) });
    for (const [text, expected] of [
      ['각', [0, 1]],
      ['가', [2]],
    ] as const) {
      for (const keyword of [text.normalize('NFC'), text.normalize('NFD')]) {
        const $or = patternsOf(keyword).map((source) => ({ a: { $regex: source, $options: 'i' } }));
        const found = await find('forms', { filter: { $or } });
        expect(
          found.map(({ _id }) => _id),
          keyword,
        ).to.deep.equal(expected);
      }
    }
  });

  it('values and $regex with expressions, beside options', async () => {
    await run({
      insert: 'c',
      documents: [
        { _id: 1, a: 'x' },
        { _id: 2, a: 'X' },
        { _id: 3, a: 5 },
      ],
    });
    const ids = async (a: unknown) => (await find('c', { filter: { a } })).map(({ _id }) => _id);
    expect(await ids(/x/)).to.deep.equal([1]);
    expect(await ids(/x/i)).to.deep.equal([1, 2]);
    expect(await ids({ $regex: /x/i })).to.deep.equal([1, 2]);
    expect(await ids({ $regex: /x/, $options: 'i' })).to.deep.equal([1, 2]);
    expect(await ids({ $options: 'i', $regex: 'x' })).to.deep.equal([1, 2]);
    expect(await ids({ $regex: '5' })).to.deep.equal([]);
    for (const a of [{ $regex: 5 }, { $regex: 'a', $options: 5 }, { $ne: /a/ }, { $in: [/a/] }])
      expect(await failureOf({ find: 'c', filter: { a } }), JSON.stringify(a)).to.include({
        code: 238,
      });
  });
});
