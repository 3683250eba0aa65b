import { expect } from 'chai';
import { codePoints, shortened } from '../../../domain/kernel/shortened.js';

describe('a shortened text', () => {
  it('has at most so many code points', () => {
    expect(codePoints('')).to.equal(0);
    expect(codePoints('a고🐈')).to.equal(3);
    expect(shortened('abcd', 4)).to.equal('abcd');
    expect(shortened('abcde', 4)).to.equal('abc…');
    expect(shortened('ab🐕de', 5)).to.equal('ab🐕de');
    expect(shortened('ab🐕de', 4)).to.equal('ab🐕…');
    expect(shortened('🐕'.repeat(200), 200)).to.equal('🐕'.repeat(200));
    expect(shortened('🐕'.repeat(201), 200)).to.equal(`${'🐕'.repeat(199)}…`);
  });

  it('is cut between two graphemes', () => {
    const family = '👨‍👩‍👧';
    expect(shortened(`ab${family}cd`, 6)).to.equal('ab…');
    expect(shortened(`ab${family}cd`, 8)).to.equal(`ab${family}…`);
    const decomposed = '각'.normalize('NFD');
    expect(shortened(`${'x'.repeat(300)}${decomposed}yz`, 303)).to.equal(`${'x'.repeat(300)}…`);
    expect(shortened(`${'x'.repeat(300)}${decomposed}yz`, 304)).to.equal(`${'x'.repeat(300)}${decomposed}…`);
  });

  it('is cut within a grapheme that is too long itself', () => {
    expect(shortened(`e${'\u0301'.repeat(300)}`, 50)).to.equal(`e${'\u0301'.repeat(48)}…`);
  });
});
