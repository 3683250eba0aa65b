import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Member as StoredMember } from '../../../domain/members/member.model.js';
import type { HistoryLine, Invoke, Ok, SeenMessage } from '../../../scripts/prove/history.js';
import { member } from '../../support/api.js';
import { adoptionPost } from '../../support/chat.js';
import { hasRedisServer } from '../../support/redis.js';
import { service } from '../../support/service.js';
import { runScript } from '../script-runs.js';

const PROVE = 'scripts/prove.js';

function readHistory(path: string): HistoryLine[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const linesOf = <E extends HistoryLine['e']>(history: HistoryLine[], e: E) =>
  history.filter((line): line is Extract<HistoryLine, { e: E }> => line.e === e);

/** Checks the form of a complete history, and that what was acknowledged is in the rooms read at the end. */
function expectComplete(history: HistoryLine[]): void {
  const times = history.map(({ t }) => t);
  expect(times).to.deep.equal([...times].sort((a, b) => a - b));
  expect(history[0]).to.include({ e: 'header', format: 1, node: process.version });
  expect(linesOf(history, 'phase').map(({ phase }) => phase)).to.deep.equal([
    'traffic',
    'quiet',
    'final',
    'end',
  ]);
  const invoked = new Map(linesOf(history, 'invoke').map((line) => [line.op, line]));
  const outcomes = history.flatMap((line) => ('op' in line && line.e !== 'invoke' ? [line.op] : []));
  expect(new Set(outcomes).size, 'outcomes of each operation').to.equal(outcomes.length);
  expect([...invoked.keys()].filter((op) => !outcomes.includes(op))).to.deep.equal([]);

  const { t: end } = linesOf(history, 'phase').find(({ phase }) => phase === 'final') as { t: number };
  const read = new Set<string>();
  for (const line of linesOf(history, 'ok')) {
    const { t, room } = invoked.get(line.op) as Invoke & { room: number };
    if (line.f !== 'join' || t < end) continue;
    for (const { content } of (line as Ok & { messages: SeenMessage[] }).messages)
      read.add(`${room} ${content}`);
  }
  const acked = linesOf(history, 'ok').flatMap(({ f, op }) => {
    const { room, content } = invoked.get(op) as Invoke & { room: number; content: string };
    return f === 'send' ? [`${room} ${content}`] : [];
  });
  expect(acked).to.not.be.empty;
  expect(acked.filter((message) => !read.has(message))).to.deep.equal([]);
}

describe('npm run prove', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-test-prove-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('runs members through every door of its own installation while a fault strikes, and removes it', async function () {
    if (!hasRedisServer) this.skip();
    const log = join(folder, 'history.ndjson');
    const size = ['--members', '4', '--seconds', '3', '--http', '1', '--gateways', '2', '--seed', '5'];
    const run = await runScript(PROVE, [...size, '--faults', 'kill', '--log', log], { TMPDIR: folder });
    expect(run, run.stderr).to.include({ status: 0 });
    expect(run.stdout).to.match(
      /^seed 5: 4 members, 5 rooms, 1 articles, 3 s, faults kill\n\d+ operations, \d+ deliveries\n$/,
    );
    expect(readdirSync(folder)).to.deep.equal(['history.ndjson']);

    const history = readHistory(log);
    expectComplete(history);
    expect(history[0]).to.deep.include({ seed: 5 });
    const faults = linesOf(history, 'fault');
    expect(faults.map(({ fault, phase }) => `${fault} ${phase}`).slice(0, 2)).to.deep.equal([
      'kill begin',
      'kill end',
    ]);
    const [begin, end] = faults.map(({ t }) => t) as [number, number];
    const during = linesOf(history, 'invoke').filter(({ t }) => t > begin && t < end);
    expect(during).to.not.be.empty;
    const doors = new Set(linesOf(history, 'invoke').map(({ door }) => door));
    expect([...doors]).to.have.members(['socket', 'rest', 'push', 'stream']);
    expect(new Set(linesOf(history, 'delivery').map(({ door }) => door))).to.deep.equal(
      new Set(['socket', 'stream']),
    );
    expect(linesOf(history, 'counts').map(({ process }) => process)).to.include.members([
      'http-0',
      'gateway-0',
      'gateway-1',
    ]);
  });

  describe('of an installation that runs already', () => {
    /** The options that name the service of the tests, and its settings. */
    async function running() {
      const { http, gateway, mongoUri, config } = await service();
      const where = ['--http', http, '--gateway', gateway, '--seconds', '2'];
      return { where, settings: { DATA_DIR: config.DATA_DIR, MONGODB_URI: mongoUri, TMPDIR: folder } };
    }
    it('creates members, which it names beforehand, and removes everything of theirs', async () => {
      const { where, settings } = await running();
      const log = join(folder, 'history.ndjson');
      const run = await runScript(PROVE, [...where, '--members', '4', '--log', log], settings);
      expect(run, run.stderr).to.include({ status: 0 });
      expect(run.stderr).to.match(
        /^creates prove-\w+-1@prove\.example\.org to prove-\w+-4@prove\.example\.org/,
      );
      expect(run.stderr).to.match(/^removed prove-\w+:/m);
      expectComplete(readHistory(log));
      const verify = await runScript('scripts/verify.js', [], settings);
      expect(verify.stdout).to.match(/^everything agrees/);
      const [, run1 = ''] = /^creates (\S+) to/.exec(run.stderr) ?? [];
      expect(await StoredMember.countDocuments({ email: run1 })).to.equal(0);
    });

    it('uses members of given tokens, deletes their articles, and says what stays', async () => {
      const { where, settings } = await running();
      const [author, asker] = [await member(), await member()];
      await adoptionPost(author);
      const tokens = join(folder, 'tokens');
      writeFileSync(tokens, `${author.token}\n${asker.token}\n`);
      const run = await runScript(PROVE, [...where, '--tokens', tokens], settings);
      expect(run, run.stderr).to.include({ status: 0 });
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

  it('names what is wrong with its options', async () => {
    const wrong: [string[], RegExp][] = [
      [['--faults', 'kill,fire'], /^--faults: no fault fire: must be none, all, or some of kill,/],
      [
        ['--http', 'http://127.0.0.1:1'],
        /^--gateway: an installation that runs already needs --http URL and --gateway URL$/m,
      ],
      [['--tokens', 'x'], /^--tokens: only for an installation that runs already/],
      [['--members', '1'], /^--members: must be from 2 to 500$/m],
      [
        ['--http', 'http://127.0.0.1:1', '--gateway', 'http://127.0.0.1:1'],
        /^--http: nothing answers at http:\/\/127\.0\.0\.1:1$/m,
      ],
    ];
    const runs = await Promise.all(wrong.map(([args]) => runScript(PROVE, args, { TMPDIR: folder })));
    for (const [i, { status, stderr, stdout }] of runs.entries()) {
      expect({ status, stdout }, stderr).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.match(wrong[i]?.[1] as RegExp);
    }
    expect(readdirSync(folder)).to.deep.equal([]);
  });
});
