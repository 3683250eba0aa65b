import { expect } from 'chai';
import { openScratch, runScript, type Scratch } from '../scripts/script-runs.js';
import { tableOf } from './documents.js';

/** The page's figures are of Node 20: later ones need less for some entries. */
const LEAST = process.versions.node.startsWith('20.') ? 0.6 : 0;
const MOST = 1.4;

describe('what a process keeps in memory', () => {
  const rows = tableOf(
    'docs/operations.md',
    '| kept in memory | entries at most | leaves memory | bytes each | MiB at most |',
  );
  const numberIn = (text = '') => Number(text.replaceAll(',', ''));

  let scratch: Scratch;
  before(async () => {
    scratch = await openScratch();
  });
  after(() => scratch.close());

  it('is what docs/operations.md says', async () => {
    const { stdout, stderr } = await runScript('test/documents/kept-memory.js', [], scratch.settings);
    expect(stderr).to.equal('');
    const measured = JSON.parse(stdout) as Record<string, number>;
    const stated = Object.fromEntries(rows.map(([kept = '', , , bytes]) => [kept, numberIn(bytes)]));
    expect(measured).to.have.all.keys(stated);
    for (const [kept, bytes] of Object.entries(measured)) {
      expect(bytes / (stated[kept] as number), `${kept}: ${bytes} bytes`).to.be.within(LEAST, MOST);
    }
  });

  it('is at most the product of the two', () => {
    for (const [kept, entries, , bytes, mib] of rows) {
      if (mib === '') continue;
      expect(Math.round((numberIn(entries) * numberIn(bytes)) / 1024 ** 2), kept).to.equal(numberIn(mib));
    }
  });
});
