import { expect } from 'chai';
import { literalPattern, patternsOf } from '../../../domain/kernel/literal-pattern.js';

describe('literal pattern', () => {
  for (const word of [
    'a.c',
    '.*',
    '(',
    '[a-z]',
    '\\',
    '^$',
    'a{2}|b+?',
    '$where',
    'x\0y',
    '고양이 🐈',
    '/',
    '-',
  ]) {
    it(`matches ${JSON.stringify(word)} and nothing else`, () => {
      const pattern = new RegExp(`^${literalPattern(word)}$`, 'u');
      expect(pattern.test(word)).to.equal(true);
      for (const other of ['abc', 'aa', '', 'b', 'xy']) expect(pattern.test(other)).to.equal(false);
    });
  }

  it('finds a text in each form of Unicode, and no part of another character', () => {
    const finds = (keyword: string, text: string) =>
      patternsOf(keyword).some((source) => new RegExp(source, 'iu').test(text));
    const texts = ['각시탈', '가을 하늘', 'Éclair für 나비', 'ế', '고양이를'];
    const keywords = ['각', '가', '각시', 'é', 'É', '하', 'ế', 'r 나', '이', '.'];
    const cases = keywords.flatMap((keyword) => texts.map((text) => [keyword, text] as const));
    const forms = (text: string) => [text.normalize('NFC'), text.normalize('NFD')];
    for (const [keyword, text] of cases) {
      const found = forms(keyword).flatMap((word) => forms(text).map((stored) => finds(word, stored)));
      const isFound = text.toLowerCase().includes(keyword.toLowerCase());
      expect(found, `${keyword} in ${text}`).to.deep.equal(Array(4).fill(isFound));
    }
    expect(patternsOf('abc')).to.deep.equal(['abc']);
    // A compatibility character, which its composed form replaces.
    expect(finds('\uf914', '\uf914')).to.equal(true);
  });

  it('leaves no raw NUL, which MongoDB refuses in a pattern', () => {
    expect(literalPattern('a\0b')).to.equal('a\\x00b');
  });
});
