import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AdoptionPost } from '../../domain/adoption/adoption-post.model.js';
import { checkAdoption } from '../../domain/adoption/index.js';
import { Member } from '../../domain/members/member.model.js';
import { importFile } from '../../scripts/import/import-file.js';
import { inspectFile } from '../../scripts/import/source.js';
import { interceptCalls } from '../support/database-calls.js';
import { printed } from '../support/output.js';
import { service } from '../support/service.js';
import { importSummary } from './script-runs.js';

let runs = 0;

/** A member's row, with an address that no other test uses. */
function memberRow(name: string, over: object = {}) {
  return { record: 'member', email: `${name}-${runs}@example.org`, nickname: name, ...over };
}

function postRow(author: string, over: object = {}) {
  return {
    ...{ record: 'adoption', title: `Post ${runs}`, author: `${author}-${runs}@example.org`, name: 'Nabi' },
    ...{ age: '3', kind: 'cat', latitude: 37.5, longitude: 127, thumbnail: '/nabi.png', ...over },
  };
}

describe('Importing a file', () => {
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-import-'));
    await service();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(() => {
    runs += 1;
  });

  /** Imports rows. @returns the exit status and the printed lines */
  async function importRows(rows: unknown[]): Promise<{ result: number; lines: string[] }> {
    const path = join(folder, `${runs}.ndjson`);
    writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
    const { domain } = await service();
    const file = await inspectFile(path);
    const { result, stdout } = await printed(() => importFile(domain, path, file));
    return { result, lines: stdout.trimEnd().split('\n') };
  }

  it('stores a post once whatever form of Unicode its rows have, also beside rows of an earlier version', async () => {
    const row = (form: 'NFC' | 'NFD') =>
      postRow('a', { title: `고양이 ${runs}`.normalize(form), name: '나비'.normalize(form) });
    const { domain } = await service();
    const before = await domain.adoption.savePost({ ...postRow('a'), authorNo: 1 });
    const titles = async () =>
      (await AdoptionPost.find({ _id: { $gt: before } }).lean()).map(({ title }) => title);
    const summary = (...of: [number, number, number]) => importSummary([0, 0, 1], of, 0);
    const first = await importRows([memberRow('a'), row('NFD'), row('NFC')]);
    expect(first.lines).to.deep.equal(importSummary([1, 0, 0], [1, 0, 1], 0));
    expect(await titles()).to.deep.equal([row('NFD').title]);
    // The key as an earlier version stored it.
    const { _id, authorNo, title, name } = (await AdoptionPost.findById(before + 1).lean()) ?? {};
    const raw = createHash('sha256')
      .update(JSON.stringify([authorNo, title, name]))
      .digest('base64url');
    await AdoptionPost.updateOne({ _id }, { $set: { importKey: raw } });
    for (const form of ['NFC', 'NFD'] as const)
      expect((await importRows([memberRow('a'), row(form)])).lines, form).to.deep.equal(summary(0, 0, 1));
    const changed = await importRows([memberRow('a'), { ...row('NFC'), age: '4' }]);
    expect(changed.lines).to.deep.equal(summary(0, 1, 0));
    expect(await titles()).to.deep.equal([row('NFC').title]);
  });

  it('stores rows about one record in order: the later one wins', async () => {
    const { domain } = await service();
    const id = (await domain.adoption.savePost({ ...postRow('a'), authorNo: 1 })) + 5;
    const rows = [
      memberRow('a'),
      memberRow('a', { nickname: 'Later' }),
      postRow('a'),
      postRow('a', { age: '4' }),
      postRow('a', { id, title: 'Numbered' }),
      postRow('a', { id, title: 'Numbered', age: '5' }),
      postRow('a', { id, title: 'Numbered', age: '5' }),
    ];
    expect(await importRows(rows)).to.deep.equal({
      result: 0,
      lines: importSummary([1, 1, 0], [2, 2, 1], 0),
    });
    const member = await Member.findOne({ email: `a-${runs}@example.org` }).lean();
    expect(member?.nickname).to.equal('Later');
    const posts = await AdoptionPost.find({ _id: { $gte: id } }).lean();
    expect(posts.map(({ age }) => age).sort()).to.deep.equal(['4', '5']);
  });

  it('accepts an author from their own row on, wherever batches are cut', async () => {
    const { result, lines } = await importRows([
      postRow('new', { title: 'Too early' }),
      memberRow('new'),
      postRow('new', { title: 'In time' }),
      memberRow('new', { nickname: 'Again' }),
      postRow('new', { title: 'And later' }),
    ]);
    expect(result).to.equal(1);
    expect(lines).to.deep.equal([
      `line 1: author: there is no member new-${runs}@example.org, in the database or earlier in the file`,
      ...importSummary([1, 1, 0], [2, 0, 0], 1),
    ]);
  });

  it('accepts an author who was there before their row', async () => {
    await importRows([memberRow('old')]);
    const { lines } = await importRows([postRow('old'), memberRow('old', { nickname: 'New name' })]);
    expect(lines).to.deep.equal(importSummary([0, 1, 0], [1, 0, 0], 0));
  });

  it('refuses a member who has left, and the number of a post imported without one', async () => {
    await importRows([memberRow('gone'), memberRow('here'), postRow('here')]);
    await Member.updateOne({ email: `gone-${runs}@example.org` }, { $set: { leftAt: new Date() } });
    const key = { importKey: { $exists: true }, title: `Post ${runs}` };
    const { _id: id } = (await AdoptionPost.findOne({ _id: { $gt: 0 }, ...key }).lean()) ?? {};
    const { result, lines } = await importRows([
      memberRow('gone', { nickname: 'Back' }),
      postRow('here', { id, title: 'Another' }),
      postRow('gone', { title: 'By nobody' }),
      memberRow('here', { nickname: 'Still' }),
    ]);
    expect(result).to.equal(1);
    expect(lines).to.deep.equal([
      'line 1: email: this member has left',
      `line 2: id: ${id} is the number of another post`,
      `line 3: author: there is no member gone-${runs}@example.org, in the database or earlier in the file`,
      ...importSummary([0, 1, 0], [0, 0, 0], 3),
    ]);
  });

  it('stores 500 rows at a time, reports faults in order, and numbers posts past all numbers in the file', async () => {
    const { domain } = await service();
    const high = (await domain.adoption.savePost({ ...postRow('a'), authorNo: 1 })) + 5_000;
    const rows: unknown[] = Array.from({ length: 1_100 }, (_, i) => memberRow(`m${i}`));
    rows[3] = { record: 'cat' };
    rows[700] = postRow('m2', { title: 'Without a number' });
    rows[1_000] = postRow('nobody');
    rows.push(postRow('m1', { id: high, title: 'Numbered' }), ...Array.from({ length: 600 }, () => 'bad'));
    const batches: number[] = [];
    const stop = interceptCalls([Member], (_model, call, run, records) => {
      if (call === 'insertMany') batches.push((records as unknown[]).length);
      return run();
    });
    const { lines } = await importRows(rows);
    stop();
    expect(lines.slice(-3)).to.deep.equal(importSummary([1_097, 0, 0], [2, 0, 0], 602));
    const numbers = lines.slice(0, -3).map((line) => Number(/^line (\d+): /.exec(line)?.[1]));
    expect(numbers).to.deep.equal([4, 1_001, ...Array.from({ length: 600 }, (_, i) => 1_102 + i)]);
    expect(batches).to.deep.equal([500, 498, 99]);
    const posts = await AdoptionPost.find({ _id: { $gte: high } }).lean();
    expect(posts.map(({ title }) => title)).to.deep.equal(['Numbered', 'Without a number']);
  });

  it('takes numbers as spreadsheets write them, and says what to do with an id that may have lost digits', async () => {
    const place = { latitude: '3.75E+01', longitude: '-1.27e2' };
    const { result, lines } = await importRows([
      memberRow('sheet'),
      postRow('sheet', { id: '4.48567E+14' }),
      postRow('sheet', { ...place, title: 'Exponents' }),
      postRow('sheet', { longitude: '1.27E' }),
    ]);
    expect(result).to.equal(1);
    expect(lines).to.deep.equal([
      'line 2: id: 4.48567E+14 may have lost digits: in the spreadsheet, show this column as numbers without decimals, and export again',
      'line 4: longitude: must be a number',
      ...importSummary([1, 0, 0], [1, 0, 0], 2),
    ]);
    const post = await AdoptionPost.findOne({ _id: { $gt: 0 }, title: 'Exponents' }).lean();
    expect(post).to.include({ latitude: 37.5, longitude: -127 });
  });

  it('takes numbers of shelters, 15 digits and up to 2^53, and gives no post of its own the next of them', async () => {
    const { domain } = await service();
    const own = (await domain.adoption.savePost({ ...postRow('a'), authorNo: 1 })) + 5;
    const [shelter, most] = [448567202600001, Number.MAX_SAFE_INTEGER];
    const rows = [
      memberRow('shelter'),
      postRow('shelter', { id: shelter, title: 'Sheltered' }),
      postRow('shelter', { id: String(most), title: 'Last' }),
      postRow('shelter', { id: own, title: 'Own' }),
      postRow('shelter', { title: 'Without a number' }),
      postRow('shelter', { id: '9007199254740992' }),
    ];
    const { lines } = await importRows(rows);
    expect(lines).to.deep.equal([
      'line 6: id: must be a whole number below 2^53',
      ...importSummary([1, 0, 0], [4, 0, 0], 1),
    ]);
    const posts = await AdoptionPost.find({ _id: { $gte: own } }, { title: 1 })
      .sort({ _id: 1 })
      .lean();
    expect(posts).to.deep.equal([
      { _id: own, title: 'Own' },
      { _id: own + 1, title: 'Without a number' },
      { _id: shelter, title: 'Sheltered' },
      { _id: most, title: 'Last' },
    ]);
    for (const check of checkAdoption())
      for await (const finding of check.run(() => undefined)) expect.fail(finding.text);
  });

  it('prints no control characters', async () => {
    const row = postRow('x', { author: 'a\u001B[2J\u0085\u2028\u007F' });
    const { lines } = await importRows([row, postRow('\u001B[2J')]);
    expect(lines).to.have.length(5);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
    expect(lines.join('')).not.to.match(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/);
  });

  it('removes its progress bar, also when it fails', async () => {
    const path = join(folder, 'one.ndjson');
    writeFileSync(path, JSON.stringify(memberRow('bar')));
    const { domain } = await service();
    const file = await inspectFile(path);
    const broken = {
      ...domain,
      members: { ...domain.members, saveAll: () => Promise.reject(new Error('away')) },
    };
    const { isTTY } = process.stderr;
    process.stderr.isTTY = true;
    try {
      for (const [each, failure] of [
        [domain, undefined],
        [broken, 'away'],
      ] as const) {
        const { stderr } = await printed(async () => {
          const error = await importFile(each, path, file).then(
            () => undefined,
            ({ message }: Error) => message,
          );
          expect(error).to.equal(failure);
        });
        expect(stderr).to.contain('import ');
        // The bar hides the cursor.
        expect(stderr.lastIndexOf('\u001B[?25h')).to.be.above(stderr.lastIndexOf('\u001B[?25l'));
      }
    } finally {
      process.stderr.isTTY = isTTY;
    }
  });
});
