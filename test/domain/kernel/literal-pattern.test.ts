import { expect } from 'chai';
import { literalPattern } from '../../../domain/kernel/literal-pattern.js';

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

  it('leaves no raw NUL, which MongoDB refuses in a pattern', () => {
    expect(literalPattern('a\0b')).to.equal('a\\x00b');
  });
});
