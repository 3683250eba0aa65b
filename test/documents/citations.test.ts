import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import {
  filesUnder,
  type Mention,
  mentionsOf,
  operatorFiles,
  pages,
  promises,
  textOf,
  wrong,
} from './documents.js';
import { faults } from './fault-tests.js';

const sources = ['domain', 'gateway', 'http', 'scripts', 'test']
  .flatMap(filesUnder)
  .filter((path) => /\.(?:ts|lua)$/.test(path));

/** Space or a line break, with the asterisk, slashes or dashes of a comment's next line. */
const BREAK = String.raw`(?:\s|\n *(?:\*|//|--) ?)+`;

/** Every citation in comments, tests and documents that begins with these words, and what it cites. */
function citations(of: string, cited: string): Mention[] {
  const expression = new RegExp(`\\b${of.replaceAll(' ', BREAK)}${BREAK}(${cited})`, 'gi');
  return mentionsOf(expression, [...sources, ...pages]);
}

/** The numbers of `4` and of `4, 5 and 6`, the names of `"a"` and of `"a" to "b"`. */
const each = (mentions: Mention[]) =>
  mentions.flatMap(({ path, found }) =>
    (found.match(/"[^"]+"|\d+/g) ?? []).map((one) => ({ path, found: one.replaceAll('"', '') })),
  );

const NUMBERS = String.raw`\d+(?:(?:, | and )\d+)*`;
const NAMES = '"[^"\n]+"(?: (?:to|and) "[^"\n]+")*';

/** The first group of every match in a document. */
const listed = (path: string, expression: RegExp) =>
  [...textOf(path).matchAll(expression)].map(([, found = '']) => found);

const sections = listed('docs/contract.md', /^## (\d+)\. /gm);
const headings = listed('docs/interface.md', /^##+ (.+)$/gm);

describe('citations in comments and tests', () => {
  it('of the contract name sections that exist', () => {
    const cited = each(citations('contract,? sections?', NUMBERS));
    expect(cited.length).to.be.greaterThan(40);
    expect(wrong(cited, ({ found }) => sections.includes(found))).to.deep.equal([]);
  });

  it('of promises name numbers that exist', () => {
    const cited = each(citations('promises?', NUMBERS));
    expect(cited.length).to.be.greaterThan(5);
    expect(wrong(cited, ({ found }) => promises.includes(found))).to.deep.equal([]);
  });

  it('of the interface name headings that exist', () => {
    const cited = each(citations(String.raw`interface(?:\.md)?,`, NAMES));
    expect(cited.length).to.be.greaterThan(10);
    expect(wrong(cited, ({ found }) => headings.includes(found))).to.deep.equal([]);
  });

  it('of faults name rows of docs/faults.md', () => {
    const cited = each(citations('faults?', NUMBERS));
    expect(cited.length).to.be.greaterThan(5);
    const numbers = faults.map(({ number }) => number);
    expect(wrong(cited, ({ found }) => numbers.includes(found))).to.deep.equal([]);
  });

  it('of a page’s section in quotes name headings that exist', () => {
    const cited = mentionsOf(/(?<![\w/])((?:docs|gateway)\/[\w/.-]+\.md, "[^"\n]+")/g, [
      ...sources,
      ...operatorFiles,
    ]);
    expect(cited.length).to.be.greaterThan(10);
    const isThere = ({ found }: Mention) => {
      const [page = '', heading = ''] = found.slice(0, -1).split(', "');
      return listed(page, /^#+ (.+)$/gm).includes(heading);
    };
    expect(wrong(cited, isThere)).to.deep.equal([]);
  });

  it('of documents name pages that exist', () => {
    const cited = mentionsOf(/(?<![\w/])((?:docs|gateway)\/[\w/.-]+\.md)\b/g, sources);
    expect(cited.length).to.be.greaterThan(20);
    expect(wrong(cited, ({ found }) => existsSync(join(projectRoot(), found)))).to.deep.equal([]);
  });
});
