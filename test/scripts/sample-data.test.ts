import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { issueToken } from '../../domain/members/index.js';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { sampleMember } from '../../scripts/sample-data/add-sample-data.js';
import { endWithTests } from '../support/child-process.js';
import { eventually } from '../support/eventually.js';
import { openScratch, runHere, type Scratch, SEED, spawnScript } from './script-runs.js';

/** Starts the service as `npm start` does. @returns the process and the address it prints */
async function start(scratch: Scratch) {
  const settings = { ...scratch.settings, DEMO: 'on', HTTP_PORT: '0', GATEWAY_PORT: '0' };
  const child = spawnScript('scripts/start.js', [], settings);
  endWithTests(child);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const address = await eventually(() => {
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
    if (!found) throw new Error(`no address in: ${printed}`);
    return found;
  });
  return { child, address };
}

async function records(scratch: Scratch): Promise<Record<string, number>> {
  const names = [
    'members',
    'articles',
    'comments',
    'hearts',
    'adoptionPosts',
    'rooms',
    'messages',
    'notifications',
  ];
  const counts = await Promise.all(names.map((name) => scratch.collection(name).countDocuments({})));
  return Object.fromEntries(names.map((name, i) => [name, counts[i] as number]));
}

describe('The sample data', () => {
  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await openScratch();
  });
  afterEach(() => scratch.close());

  it('fills an empty database at the start, with every kind of record', async () => {
    const { child, address } = await start(scratch);
    try {
      const config = loadConfig(scratch.settings, scratch.folder);
      const token = await issueToken(config, { ...sampleMember(), ttl: '1h' });
      const get = async <T>(path: string) => {
        const answer = await fetch(address + path, { headers: { Authorization: token } });
        return (await answer.json()) as T;
      };
      type Article = { id: number; like: number; comment: number; publishedAt: string };
      const board = await get<{ hot: Article; weekly: Article; list: Article[] }>(
        '/community/list/recent?size=50',
      );
      expect(board.list).to.have.length(12);
      expect(board.list.map(({ publishedAt }) => publishedAt)).to.deep.equal(
        board.list
          .map(({ publishedAt }) => publishedAt)
          .sort()
          .reverse(),
      );
      expect(board.hot.id).not.to.equal(board.weekly.id);
      expect(board.list.every(({ like, comment }) => like > 0 && comment > 0)).to.equal(true);

      const animals = await get<{ kind: string; latitude: number; longitude: number }[]>('/adopt/render');
      expect(animals).to.have.length(30);
      expect([...new Set(animals.map(({ kind }) => kind))].sort()).to.deep.equal([
        '강아지',
        '고양이',
        '기타',
      ]);
      for (const { latitude, longitude } of animals) {
        expect(latitude).to.be.within(37.4, 37.7);
        expect(longitude).to.be.within(126.7, 127.2);
      }
      const rooms = await get<{ unReadCount: number }[]>('/chatroom');
      expect(rooms).to.have.length.at.least(3);
      expect(rooms.some(({ unReadCount }) => unReadCount > 0)).to.equal(true);
      const notifications = await get<{ id: number; type: string; checked: boolean }[]>('/notification/all');
      expect(notifications.map(({ type }) => type)).to.include.members([
        'announcement',
        'chat',
        'comment',
        'recomment',
      ]);
      expect((await records(scratch)).members).to.be.at.least(12);
      expect(await runHere('scripts/verify.js', [], scratch.settings)).to.include({
        status: 0,
        stderr: '',
      });
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });

  it('is completed by the next start if the first was killed, without duplicates', async () => {
    const settings = { ...scratch.settings };
    const child = spawnScript(SEED, [], settings);
    const gone = once(child, 'close');
    await eventually(async () => {
      expect(await scratch.collection('notifications').countDocuments({})).to.be.above(20);
    });
    child.kill('SIGKILL');
    await gone;
    const half = await records(scratch);
    expect(await runHere(SEED, [], settings)).to.include({ status: 0, stderr: '' });
    const whole = await records(scratch);
    const { messages, notifications, ...others } = whole;
    expect(half.notifications).to.be.below(notifications as number);
    expect(others).to.include({ members: 14, articles: 12, comments: 39, adoptionPosts: 30, rooms: 6 });
    expect(messages).to.equal(27);

    expect(await runHere(SEED, [], settings)).to.include({ status: 0, stderr: '' });
    expect(await records(scratch)).to.deep.equal(whole);
    expect(await runHere('scripts/verify.js', [], settings)).to.include({ status: 0, stderr: '' });
  });

  it('has members and adoption posts that the import reads', async () => {
    const path = join(projectRoot(), 'scripts', 'sample-data', 'members-and-posts.ndjson');
    const { status, stdout } = await runHere('scripts/import.js', [path], scratch.settings);
    expect(stdout).to.include('14 created').and.include('30 created');
    expect(status).to.equal(0);
  });

  it('is not added to a database in use', async () => {
    const row = { record: 'member', email: 'first@example.org', nickname: 'First' };
    const path = scratch.file('first.json', JSON.stringify([row]));
    await runHere('scripts/import.js', [path], scratch.settings);
    await runHere(SEED, [], scratch.settings);
    expect(await records(scratch)).to.include({ members: 1, articles: 0, adoptionPosts: 0 });
  });
});
