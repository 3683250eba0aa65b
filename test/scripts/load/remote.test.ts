import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../../scripts/command/ports.js';
import type { Report } from '../../../scripts/load/report.js';
import { member } from '../../support/api.js';
import { adoptionPost } from '../../support/chat.js';
import { eventually } from '../../support/eventually.js';
import { recordCounts } from '../../support/record-counts.js';
import { service } from '../../support/service.js';
import { runScript, spawnScript } from '../script-runs.js';
import { withoutProgress } from './results.js';

const LOAD = 'scripts/load.js';

const TINY = ['--seconds', '0.1', '--runs', '1', '--clients', '1', '--rate', '200'];

describe('npm run load of an installation that runs already', function () {
  this.timeout(120_000);

  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-test-load-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** The options that name the service of the tests, and its settings. */
  async function running() {
    const { http, gateway, mongoUri, config } = await service();
    const settings = { DATA_DIR: config.DATA_DIR, MONGODB_URI: mongoUri, TMPDIR: folder };
    return { where: ['--http', http, '--gateway', gateway], settings };
  }

  const deliveredBy = ({ results }: Report) => results.map(({ figures }) => figures.delivered?.median ?? 0);

  it('names what it creates beforehand, and leaves as many records as it found', async () => {
    const { where, settings } = await running();
    const before = await recordCounts(settings.MONGODB_URI);
    const json = join(folder, 'out.json');
    const sizes = ['--members', '10', '--rooms', '3'];
    const run = await runScript(LOAD, ['all', ...where, ...TINY, ...sizes, '--json', json], settings);
    expect(run.status, `${run.stdout}${run.stderr}`).to.equal(0);
    const lines = withoutProgress(run.stderr).trim().split('\n');
    expect(lines).to.have.length(4);
    const created = [
      ['1', '2'],
      ['3', '6'],
      ['7', '10'],
    ];
    for (const [i, [first, last]] of created.entries())
      expect(lines[i]).to.match(
        new RegExp(
          `^creates load-\\w+-${first}@run\\.example\\.org to load-\\w+-${last}@run\\.example\\.org, one of 2 with an adoption post, .*; all are removed afterwards$`,
        ),
      );
    expect(lines[3]).to.match(
      /^removed load-\w+: 10 members, 5 adoption posts, 5 rooms, \d+ messages, and all/,
    );
    expect(await recordCounts(settings.MONGODB_URI)).to.deep.equal(before);
    const [fanout, chat, storm] = JSON.parse(readFileSync(json, 'utf8')) as [Report, Report, Report];
    expect([fanout, chat, storm].map(({ scenario }) => scenario)).to.deep.equal(['fanout', 'chat', 'storm']);
    expect(deliveredBy(fanout)).to.deep.equal([200]);
    expect(deliveredBy(chat)[1]).to.equal(40);
    expect(deliveredBy(storm)).to.deep.equal([10]);
    for (const { verdicts, results } of [fanout, chat, storm]) {
      expect(verdicts).to.not.be.empty;
      for (const { figures } of results) expect(figures.lost?.max).to.equal(0);
    }
  });

  it('connects again where the installation refuses it at first', async () => {
    const { where, settings } = await running();
    const [, http, , gateway] = where as [string, string, string, string];
    const refusals = [...Array(3).fill('503 Service Unavailable'), '429 Too Many Requests'];
    const refusedJoins = ['503', '429'];
    const front = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (request) => {
        const refusal = request.includes('Upgrade: websocket') ? refusals.pop() : undefined;
        if (refusal) {
          socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\n\r\n`);
          return;
        }
        const behind = connect(Number(new URL(gateway).port), new URL(gateway).hostname);
        behind.on('error', () => socket.destroy());
        socket.on('close', () => behind.destroy());
        behind.write(request);
        socket.pipe(behind);
        behind.on('data', (chunk) => {
          const text = chunk.toString('latin1');
          const joined = '430[{"status":200';
          const status = text.includes(joined) ? refusedJoins.pop() : undefined;
          socket.write(status ? text.replace(joined, `430[{"status":${status}`) : text, 'latin1');
        });
      });
    }).listen(0, '127.0.0.1');
    try {
      await once(front, 'listening');
      const { port } = front.address() as AddressInfo;
      const options = ['--http', http, '--gateway', `http://127.0.0.1:${port}`, '--members', '10'];
      const json = join(folder, 'out.json');
      const run = await runScript(LOAD, ['fanout', ...options, ...TINY, '--json', json], settings);
      expect(run.status, `${run.stdout}${run.stderr}`).to.equal(0);
      expect([...refusals, ...refusedJoins]).to.be.empty;
      const report: Report = JSON.parse(readFileSync(json, 'utf8'));
      expect(deliveredBy(report)).to.deep.equal([200]);
      expect(report.results[0]?.figures.repeated?.median).to.equal(6);
    } finally {
      front.close();
    }
  });

  it('uses members of given tokens, and says what stays', async () => {
    const { where, settings } = await running();
    const [author, asker] = [await member(), await member()];
    await adoptionPost(author);
    const [tokens, json] = [join(folder, 'tokens'), join(folder, 'out.json')];
    writeFileSync(tokens, `${author.token}\n${asker.token}\n`);
    const options = ['--tokens', tokens, '--members', '10', '--json', json];
    const run = await runScript(LOAD, ['fanout', ...where, ...TINY, ...options], settings);
    expect(run.status, `${run.stdout}${run.stderr}`).to.equal(0);
    expect(run.stderr).to.match(/^2 members of .* open rooms about each other's adoption posts/);
    expect(run.stderr).to.match(/^left behind: rooms \d+, and the messages in them$/m);
    const measured = JSON.parse(readFileSync(json, 'utf8')) as Report;
    expect(deliveredBy(measured)).to.deep.equal([200]);
  });

  it('says that tokens are too few, and none is of an author', async () => {
    const { where, settings } = await running();
    const tokens = join(folder, 'tokens');
    writeFileSync(tokens, `${(await member()).token}\n${(await member()).token}\n`);
    const run = await runScript(LOAD, ['fanout', ...where, ...TINY, '--tokens', tokens], settings);
    expect(run.status).to.equal(1);
    expect(run.stderr).to.include(
      'its 2 members, 0 of them authors of a post among the newest 50, can open 0 rooms',
    );
  });

  it('removes what it created when it is interrupted', async () => {
    const { where, settings } = await running();
    const before = await recordCounts(settings.MONGODB_URI);
    const sizes = ['--rooms', '3', '--seconds', '60'];
    const child = spawnScript(LOAD, ['chat', ...where, ...sizes, '--clients', '1'], settings);
    const ended = once(child, 'close');
    let told = '';
    child.stderr.on('data', (chunk) => {
      told += chunk;
    });
    await eventually(async () => {
      expect((await recordCounts(settings.MONGODB_URI)).rooms ?? 0).to.equal((before.rooms ?? 0) + 3);
    });
    child.kill('SIGINT');
    child.kill('SIGINT');
    expect((await ended)[0], told).to.equal(130);
    expect(withoutProgress(told)).to.match(
      /^creates .*\ninterrupted: cleaning up\nremoved load-\w+: 6 members, .*\ninterrupted: \d+ processes stopped, \d temporary folders removed; finished: no scenario\n$/,
    );
    expect(await recordCounts(settings.MONGODB_URI)).to.deep.equal(before);
  });

  it('names one that cannot be reached', async () => {
    const gateway = `http://127.0.0.1:${await freePort()}`;
    const { status, stderr } = await runScript(LOAD, ['chat', '--http', gateway, '--gateway', gateway], {});
    expect({ status, stderr }).to.deep.equal({
      ...{ status: 1, stderr: `--http: nothing answers at ${gateway}: ECONNREFUSED\n` },
    });
  });
});
