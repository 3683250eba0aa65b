import { expect } from 'chai';
import { openEmbeddedMongo } from 'embedded-mongo';
import { importSummary, openScratch, runHere, runScript, type Scratch } from './script-runs.js';

const kim = { record: 'member', email: 'Kim@Example.org', nickname: '김', role: 'ADMIN' };
const lee = { record: 'member', email: 'lee@example.org', nickname: 'Lee', profile: '/lee.svg' };
const bori = {
  record: 'adoption',
  id: 12,
  title: '보리, "산책" 좋아해요',
  author: 'kim@example.org',
  name: '보리',
  age: '2살',
  kind: '믹스견',
  latitude: 37.55,
  longitude: 126.92,
  thumbnail: '/bori.svg',
};
/** Without an id. */
const { id: _, ...stray } = { ...bori, title: 'A stray cat', name: 'Nabi', author: 'lee@example.org' };

const unknownAuthor = 'author: there is no member nobody@example.org, in the database or earlier in the file';

const counts = (...of: Parameters<typeof importSummary>) => `${importSummary(...of).join('\n')}\n`;

describe('npm run import', () => {
  let scratch: Scratch;
  const run = (path: string) => runHere('scripts/import.js', [path], scratch.settings);
  const posts = () => scratch.collection('adoptionPosts').find({}).sort({ _id: 1 }).toArray();

  before(async () => {
    scratch = await openScratch();
  });
  after(() => scratch.close());

  it('44: NDJSON: stores valid rows, names line and field of the others, and changes nothing the second time', async () => {
    const lines = [
      kim,
      { ...bori, id: 13, author: 'lee@example.org' },
      lee,
      stray,
      bori,
      { ...bori, id: 14, latitude: 91, longitude: -180.5, name: '' },
      { ...bori, id: 15, author: 'nobody@example.org' },
      { ...lee, email: 'lee', role: 'KING' },
      { record: 'cat' },
    ].map((row) => JSON.stringify(row));
    const path = scratch.file('rows.ndjson', [...lines, '{"record":', ''].join('\n'));

    expect(await run(path)).to.deep.equal({
      status: 1,
      stderr: '',
      stdout: `${[
        'line 2: author: there is no member lee@example.org, in the database or earlier in the file',
        'line 6: name: is missing; latitude: must be from -90 to 90; longitude: must be from -180 to 180',
        `line 7: ${unknownAuthor}`,
        'line 8: email: must be an e-mail address; role: must be USER or ADMIN',
        'line 9: record: must be member or adoption',
        'line 10: is not well-formed JSON',
      ].join('\n')}\n${counts([2, 0, 0], [2, 0, 0], 6)}`,
    });
    const stored = await posts();
    // Past every number in the file, those of rejected rows included.
    expect(stored.map(({ _id, title }) => [_id, title])).to.deep.equal([
      [12, bori.title],
      [16, stray.title],
    ]);
    expect(stored[0]).to.include({ name: '보리', latitude: 37.55, thumbnail: '/bori.svg', modal: false });

    const again = await run(
      scratch.file('again.ndjson', [lines[0], lines[2], lines[3], lines[4]].join('\n')),
    );
    expect(again).to.deep.equal({ status: 0, stderr: '', stdout: counts([0, 0, 2], [0, 0, 2], 0) });
    expect(await posts()).to.deep.equal(stored);
  });

  it('makes what others see of a member fit to be shown, and refuses addresses of other schemes', async () => {
    const address = 'must be an http(s) address, a path or a data URL of an image other than SVG';
    const path = scratch.file(
      'shown.ndjson',
      [
        '{"record":"member","email":"cut@example.org","nickname":"나비\\ud83d\\u202e\\u0000","profile":"/p/\\ud83d"}',
        JSON.stringify({ ...lee, email: 'bad@example.org', profile: 'javascript:alert(1)' }),
        JSON.stringify({ ...bori, id: 90, thumbnail: 'javascript:alert(1)' }),
        JSON.stringify({ ...lee, email: 'bad@example.org', nickname: '\u202e' }),
        JSON.stringify({ ...lee, email: 'bad@example.org', nickname: 'n'.repeat(51) }),
      ].join('\n'),
    );
    const { stdout } = await run(path);
    expect(stdout).to.equal(
      [
        `line 2: profile: ${address}`,
        `line 3: thumbnail: ${address}`,
        'line 4: nickname: must not be blank',
        'line 5: nickname: must have at most 50 characters',
        counts([1, 0, 0], [0, 0, 0], 4),
      ].join('\n'),
    );
    const member = await scratch.collection('members').findOne({ email: 'cut@example.org' });
    expect(member).to.include({ nickname: '나비\uFFFD', profile: '/p/\uFFFD' });
  });

  it('CSV: the same rows; changed ones replace the stored ones', async () => {
    const path = scratch.file(
      'rows.csv',
      [
        '\uFEFFrecord,email,nickname,id,title,author,name,age,kind,latitude,longitude,thumbnail',
        'member,kim@example.org,김지우,,,,,,,,,',
        'adoption,,,12,"보리, ""산책"" 좋아해요",kim@example.org,보리,3살,믹스견,37.55,126.92,/bori.svg',
        'adoption,,,,A stray cat,lee@example.org,Nabi,2살,믹스견,37.55,126.92,/bori.svg',
        'adoption,,,,A "stray" cat,lee@example.org,Nabi,2살,믹스견,37.55,126.92,/bori.svg',
        'adoption,,,zero,Another,lee@example.org,Nabi,2살,믹스견,37.55,abc,/bori.svg',
      ].join('\r\n'),
    );
    expect(await run(path)).to.deep.equal({
      status: 1,
      stderr: '',
      stdout: [
        'line 5: has a quote (") that is not closed, or stands inside a value without being doubled',
        'line 6: id: must be a whole number; longitude: must be a number',
        counts([0, 1, 0], [0, 1, 1], 2),
      ].join('\n'),
    });
    expect((await posts())[0]).to.include({ _id: 12, age: '3살' });
    const member = await scratch.collection('members').findOne({ email: 'kim@example.org' });
    expect(member).to.include({ nickname: '김지우', role: 'ADMIN' });
  });

  it('JSON by its content if the ending is unknown; elements by the line they start on', async () => {
    const path = scratch.file(
      'rows.txt',
      `[\n  ${JSON.stringify({ ...lee, email: 'json@example.org' })},\n  {\n    "record": "adoption",\n    "title": 7\n  },\n  null\n]`,
    );
    const { status, stdout } = await run(path);
    expect(status).to.equal(1);
    expect(stdout).to.equal(
      [
        'line 3: title: must be text; author: is missing; name: is missing; age: is missing; kind: is missing; ' +
          'latitude: is missing; longitude: is missing; thumbnail: is missing',
        'line 7: is not an object',
        counts([1, 0, 0], [0, 0, 0], 2),
      ].join('\n'),
    );
  });

  it('says in one line why the file cannot be read, with status 2', async () => {
    const files: [string, RegExp][] = [
      ['missing.csv', /^there is no file missing\.csv\n$/],
      [scratch.file('wide.json', Buffer.from('\uFEFF[]', 'utf16le')), /is UTF-16; save it as UTF-8\n$/],
      [scratch.file('object.json', '{}'), /^line 1: a JSON file holds an array; .+\n$/],
      [scratch.folder, /is not a file\n$/],
    ];
    await Promise.all(
      files.map(async ([path, line]) => {
        const { status, stdout, stderr } = await run(path);
        expect({ status, stdout }, path).to.deep.equal({ status: 2, stdout: '' });
        expect(stderr).to.match(line);
      }),
    );
  });

  it('shares the embedded database of its DATA_DIR with other processes', async () => {
    const own = { DATA_DIR: scratch.folder };
    const database = await openEmbeddedMongo(scratch.folder, { database: 'adoption' });
    try {
      const path = scratch.file('members.ndjson', JSON.stringify(kim));
      const first = await runScript('scripts/import.js', [path], own);
      const second = await runHere('scripts/import.js', [path], own);
      expect(first).to.deep.equal({ status: 0, stderr: '', stdout: counts([1, 0, 0], [0, 0, 0], 0) });
      expect(second).to.deep.equal({ status: 0, stderr: '', stdout: counts([0, 0, 1], [0, 0, 0], 0) });
    } finally {
      await database.close();
    }
  });
});
