import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Member as StoredMember } from '../../../domain/members/member.model.js';
import { member } from '../../support/api.js';
import { adoptionPost } from '../../support/chat.js';
import { service } from '../../support/service.js';
import { runScript, spawnScript } from '../script-runs.js';
import { expectComplete, readHistory } from './complete-history.js';
import { interrupt, preload, untilPrinted } from './interrupt.js';

const PROVE = 'scripts/prove.js';

/** Makes the command's requests of bookmarks slow, and tells of them. */
const SLOW_BOOKMARKS = preload(`
  const real = fetch;
  globalThis.fetch = async (url, init) => {
    if (!url.includes('/bookmark/')) return real(url, init);
    console.error('bookmark asked');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return real(url, init).finally(() => console.error('bookmark answered'));
  };`);

/** Makes articles say how often they were viewed in words. */
const VIEWS_IN_WORDS = preload(`
  const { json } = Response.prototype;
  Response.prototype.json = async function () {
    const answer = await json.call(this);
    if (answer?.header?.view !== undefined) answer.header.view = 'many';
    return answer;
  };`);

/** Shows members that they have not read a thousand messages of each room. */
const UNREAD = preload(`
  const { json } = Response.prototype;
  Response.prototype.json = async function () {
    const answer = await json.call(this);
    if (this.url.endsWith('/chatroom') && Array.isArray(answer)) for (const room of answer) room.unReadCount += 1_000;
    return answer;
  };`);

describe('npm run prove', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-test-prove-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  describe('of an installation that runs already', () => {
    /** The options that name the service of the tests, and its settings. */
    async function running() {
      const { http, gateway, mongoUri, config } = await service();
      const where = ['--http', http, '--gateway', gateway, '--seconds', '4'];
      return { where, settings: { DATA_DIR: config.DATA_DIR, MONGODB_URI: mongoUri, TMPDIR: folder } };
    }
    it('creates members, which it names beforehand, and removes everything of theirs', async () => {
      const { where, settings } = await running();
      const log = join(folder, 'history.ndjson');
      const run = await runScript(PROVE, [...where, '--members', '4', '--log', log], settings);
      expect(run.status, `${run.stdout}${run.stderr}`).to.be.oneOf([0, 2]);
      expect(run.stderr).to.match(/^creates prove-\w+-1@run\.example\.org to prove-\w+-4@run\.example\.org/);
      expect(run.stderr).to.match(/^removed prove-\w+:/m);
      expectComplete(readHistory(log));
      const verify = await runScript('scripts/verify.js', [], settings);
      expect(verify.stdout).to.match(/^everything agrees/);
      const [, run1 = ''] = /^creates (\S+) to/.exec(run.stderr) ?? [];
      expect(await StoredMember.countDocuments({ email: run1 })).to.equal(0);
    });

    it('removes everything of the run when it is interrupted at its beginning', async () => {
      const { where, settings } = await running();
      const child = spawnScript(PROVE, [...where, '--members', '4', '--seconds', '60'], settings);
      const ended = once(child, 'close');
      let told = '';
      child.stderr.on('data', (chunk) => {
        told += chunk;
      });
      await untilPrinted(child.stdout, /^seed /);
      interrupt(child);
      expect((await ended)[0], told).to.equal(130);
      expect(told).to.match(/^removed prove-\w+:/m);
      const [, first = ''] = /^creates (\S+) to/.exec(told) ?? [];
      expect(await StoredMember.countDocuments({ email: first })).to.equal(0);
    });

    it('removes everything of the run when its terminal is closed', async () => {
      const { where, settings } = await running();
      const before = await StoredMember.countDocuments();
      const child = spawnScript(PROVE, [...where, '--members', '4', '--seconds', '60'], settings);
      const ended = once(child, 'exit');
      await untilPrinted(child.stdout, /^seed /);
      expect(await StoredMember.countDocuments()).to.equal(before + 4);
      child.stdout.destroy();
      child.stderr.destroy();
      child.kill('SIGHUP');
      expect((await ended)[0]).to.equal(130);
      expect(await StoredMember.countDocuments()).to.equal(before);
    });

    it('asks nothing more when it is interrupted at its end, and removes everything after the last answer', async () => {
      const { where, settings } = await running();
      const log = join(folder, 'history.ndjson');
      writeFileSync(log, '');
      const args = [...where, '--members', '8', '--seconds', '1', '--log', log];
      const child = spawnScript(PROVE, args, { ...settings, NODE_OPTIONS: SLOW_BOOKMARKS });
      const ended = once(child, 'close');
      let told = '';
      child.stderr.on('data', (chunk) => {
        told += chunk;
      });
      await untilPrinted(child.stdout, /^seed /);
      while (!/"f":"bookmark","client":"m\d+\.final"/.test(readFileSync(log, 'utf8'))) await sleep(50);
      interrupt(child);
      expect((await ended)[0], told).to.equal(130);
      expect(told).to.match(/interrupted: .*\n(?:bookmark answered\n)+removed prove-.*\n$/);
    });

    it('finds a field of another type, and keeps the history', async () => {
      const { where, settings } = await running();
      const args = [...where, '--members', '4', '--seconds', '60', '--fail-fast'];
      const run = await runScript(PROVE, args, { ...settings, NODE_OPTIONS: VIEWS_IN_WORDS });
      expect(run.status, `${run.stdout}${run.stderr}`).to.equal(1);
      expect(run.stdout).to.match(/^broken: answers-are-whole \(/m);
      const [, kept = ''] = /^the history is kept: (.+)$/m.exec(run.stderr) ?? [];
      expect(readFileSync(kept, 'utf8')).to.match(/"view":"many"/);
    });

    it('ends with the first broken promise if it is to, and judges what it has written', async () => {
      const { where, settings } = await running();
      const args = [...where, '--members', '4', '--seconds', '600', '--fail-fast'];
      const run = await runScript(PROVE, args, { ...settings, NODE_OPTIONS: UNREAD });
      expect(run.status, `${run.stdout}${run.stderr}`).to.equal(1);
      expect(run.stderr).to.match(/^unread-counts is broken: ending what was started\nremoved /m);
      expect(run.stdout).to.match(/^broken: \d+ operations/m);
      const [, kept = ''] = /^the history is kept: (.+)$/m.exec(run.stderr) ?? [];
      expect(kept).to.include(folder);
      const { stdout } = await runScript(PROVE, ['--check', kept], {});
      expect(stdout).to.equal(run.stdout.replace(/^seed .*\n/, ''));
    });

    it('ends at once when its history cannot be written, and removes everything of the run', async () => {
      const { where, settings } = await running();
      const args = [...where, '--members', '4', '--seconds', '60', '--log', '/dev/full'];
      const { status, stdout, stderr } = await runScript(PROVE, args, settings);
      expect(status, stderr).to.equal(1);
      expect(stdout).to.match(/^seed .*\n$/);
      expect(stderr).to.match(
        /^the history \/dev\/full cannot be written: ENOSPC: no space left on device, write: ending what was started\nremoved prove-\w+:.*\n$/m,
      );
    });

    it('uses members of given tokens, deletes their articles, and says what stays', async () => {
      const { where, settings } = await running();
      const [author, asker] = [await member(), await member()];
      await adoptionPost(author);
      const tokens = join(folder, 'tokens');
      writeFileSync(tokens, `${author.token}\n${asker.token}\n`);
      const run = await runScript(PROVE, [...where, '--tokens', tokens], settings);
      // So few members seldom take every rare path.
      expect(run.status, `${run.stdout}${run.stderr}`).to.be.oneOf([0, 2]);
      expect(run.stderr).to.match(/^deleted 1 of 1 articles\nleft behind: the messages in the rooms \d+$/m);
    });

    it('refuses one that has another database than the settings', async () => {
      const { where, settings } = await running();
      const other = { ...settings, MONGODB_URI: '', DATA_DIR: folder };
      const { status, stderr } = await runScript(PROVE, where, other);
      expect(status).to.equal(1);
      expect(stderr).to.match(/has another key or database than the settings of this folder/);
    });
  });
});
