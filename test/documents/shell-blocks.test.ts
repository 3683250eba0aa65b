import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { pages } from './documents.js';
import { shellBlocks } from './shell-blocks.js';

/** Removes what quotes, and here-documents. */
const unquoted = (block: string) =>
  block
    .replaceAll(/<<'(\w+)'\n.*?^\1$/gms, '')
    .replaceAll(/'[^']*'/g, 'quoted')
    .replaceAll(/"(?:\\.|[^"\\])*"/gs, 'quoted');

describe('the blocks of shell in the documents', () => {
  const blocks = pages.flatMap((path) => shellBlocks(path).map((block) => ({ path, block })));
  const wrong = (isRight: (block: string) => boolean) =>
    blocks.filter(({ block }) => !isRight(block)).map(({ path, block }) => `${path}: ${block}`);

  it('are found', () => {
    for (const [path, least] of [
      ['README.md', 5],
      ['docs/operations.md', 5],
      ['docs/performance.md', 5],
      ['docs/consistency.md', 3],
    ] as const)
      expect(shellBlocks(path).length, path).to.be.at.least(least);
  });

  // zsh takes # for a word, and an apostrophe behind it for the start of a quote.
  it('have no comment: an interactive zsh knows none', () => {
    expect(wrong((block) => !/(?:^|[\s;&|(])#/m.test(unquoted(block)))).to.deep.equal([]);
  });

  it('close every quote', () => {
    expect(wrong((block) => !/['"`]/.test(unquoted(block)))).to.deep.equal([]);
    expect(wrong((block) => spawnSync('bash', ['-n'], { input: block }).status === 0)).to.deep.equal([]);
  });

  // Both shells replace it by an earlier command.
  it('have no exclamation mark in double quotes', () => {
    const inDouble = (block: string) =>
      block.replaceAll(/<<'(\w+)'\n.*?^\1$/gms, '').replaceAll(/'[^']*'/g, '');
    expect(wrong((block) => !/"(?:\\.|[^"\\])*!(?:\\.|[^"\\])*"/s.test(inDouble(block)))).to.deep.equal([]);
  });
});
