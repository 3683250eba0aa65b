import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { startServiceProcess } from '../support/service-process.js';
import { openStream } from '../support/streams.js';
import { openScratch, runHere, runScript, type Scratch, SECRET } from './script-runs.js';

describe('Commands beside a running service', () => {
  let scratch: Scratch;
  before(async () => {
    scratch = await openScratch();
  });
  after(() => scratch.close());

  it('imports and announcements reach its clients', async () => {
    const service = await startServiceProcess({ MONGODB_URI: scratch.uri, JWT_SECRET: SECRET });
    try {
      const authorToken = await service.token('author@example.org');
      const stream = await openStream({ token: authorToken }, { base: service.http });
      const row = {
        record: 'adoption',
        title: 'Imported',
        author: 'author@example.org',
        name: 'Mochi',
        age: '6 months',
        kind: 'rabbit',
        latitude: 37.5,
        longitude: 127,
        thumbnail: '/mochi.svg',
      };
      const path = scratch.file('one.json', JSON.stringify([row]));
      const [imported, announced] = await Promise.all([
        runScript('scripts/import.js', [path], scratch.settings),
        runScript('scripts/announce.js', ['공지입니다', '--url', 'board/1'], scratch.settings),
      ]);
      expect(imported).to.include({ status: 0, stderr: '' });
      expect(announced).to.include({ status: 0, stdout: '1 members notified\n' });
      await eventually(async () => {
        const { body } = await service.anyone.get<{ name: string }[]>('/adopt/render');
        expect(body.map(({ name }) => name)).to.include('Mochi');
      });
      const event = await stream.next(({ data }) => data.includes('공지입니다'));
      expect(JSON.parse(event.data)).to.include({ type: 'announcement', url: '/board/1', checked: false });

      // Verify repairs what is safe beside it, and leaves what it keeps in memory.
      const gap = { _id: 900_000_001 as never, memberNo: 900_000_001, n: 2, cause: 'a' };
      await scratch.collection('notifications').insertOne(gap);
      const verified = await runHere('scripts/verify.js', ['--repair', '--json'], scratch.settings);
      const lines = verified.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.at(-1)).to.include({ type: 'summary', agrees: false, differences: 1, repaired: 1 });
      const [number, sequence] = ['notification-number', 'sequence'].map((kind) =>
        lines.find((line) => line.kind === kind),
      );
      expect(sequence).to.include({ area: 'notifications', record: 'sequence notification', repaired: true });
      expect(number).to.include({ found: 2, expected: 1, repaired: false });
      expect(number.reason).to.match(/^stop the service first: process \d+ on .+ ran within the last 90 s$/);
    } finally {
      await service.stop();
    }
  });

  it('a second run announces again; --resume only completes the first', async () => {
    const key = async (stderr: Promise<{ stderr: string }>) =>
      /^key ([\w-]{12}) /.exec((await stderr).stderr)?.[1];
    const announce = (...args: string[]) => runHere('scripts/announce.js', args, scratch.settings);
    const first = await key(announce('Twice'));
    const again = await announce('Twice');
    expect(again.stdout).to.equal('1 members notified\n');
    const resumed = await announce('Twice', '--resume', first ?? '');
    expect(resumed.stdout).to.equal('0 members notified, 1 had been notified before\n');
    expect(await scratch.collection('notifications').countDocuments({ content: 'Twice' })).to.equal(2);
    const refused = await announce('Elsewhere', '--url', '//evil.example.org');
    expect(refused).to.deep.equal({
      status: 2,
      stdout: '',
      stderr: '--url: must be a path inside the app\n',
    });
  });
});
