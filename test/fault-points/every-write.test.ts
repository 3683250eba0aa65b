import { expect } from 'chai';
import { checkAdoption } from '../../domain/adoption/index.js';
import { checkChat } from '../../domain/chat/index.js';
import { Message } from '../../domain/chat/message.model.js';
import { Article } from '../../domain/community/article.model.js';
import { Bookmark } from '../../domain/community/bookmark.model.js';
import { Comment } from '../../domain/community/comment.model.js';
import { Heart } from '../../domain/community/heart.model.js';
import { checkCommunity } from '../../domain/community/index.js';
import { createDomain, type Domain } from '../../domain/domain.js';
import { checkMembers } from '../../domain/members/index.js';
import { checkNotifications } from '../../domain/notifications/index.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { toAppError } from '../../domain/platform/process/failures.js';
import { type Call, FAULTS, FaultyProcess, type Strike } from '../support/fault-points.js';
import { createRandom } from '../support/random.js';
import { service } from '../support/service.js';
import { chatRows } from './chat.js';
import { communityRows } from './community.js';
import { otherRows } from './others.js';
import { type Answer, live, type UseCase } from './use-case.js';

const ROWS = [...communityRows, ...chatRows, ...otherRows];

/** Pairs of faults that are tried of each way to send a message. FAULT_PAIRS=1000000: all of them. */
const PAIRS = Number(process.env.FAULT_PAIRS ?? 60);

/** Exports of areas that write nothing, or nothing that is to outlive the process. */
const NO_WRITES = [
  'adoption: listRenderRecords findPost findPosts',
  'chat: requireToken noteClient listRooms echoMessage leaveRoom disconnectFromRoom requireParticipant readAfter heads headsOf',
  'chat: knownHead isSettled viewRoom writtenSince noteMessage noteRead resendSince acceptPresence checkPresence close',
  'community: listArticles listComments',
  'members: directory',
  'notifications: list resumeAfter replayAfter subscribe acceptPush pollSoon startPoll takePublished takeNews close',
].flatMap((line) => {
  const [area, names = ''] = line.split(': ');
  return names.split(' ').map((name) => `${area}.${name}`);
});

/** A process of its own, on the database of the tests. */
async function open(process: FaultyProcess): Promise<Domain> {
  const { config } = await service();
  return process.run(() => createDomain({ config, logger: createLogger('silent', 'test'), live }));
}

/** Ends a process at once. Nothing that it still has in memory is stored. */
async function end(process: FaultyProcess, domain: Domain): Promise<void> {
  process.kill();
  await domain.close();
}

async function ask(
  process: FaultyProcess,
  row: UseCase,
  domain: Domain,
  records: never,
): Promise<Answer<never>> {
  try {
    const value = await process.run(() => row.act(domain, records));
    return { ok: true, value };
  } catch (error) {
    return { ok: false, code: toAppError(error).code };
  } finally {
    await process.quiet();
  }
}

/** What a new process does at its start. */
async function sweep(): Promise<void> {
  const process = new FaultyProcess();
  const domain = await open(process);
  await Promise.all([domain.community.sweep(), domain.chat.sweep()]);
  await end(process, domain);
}

/**
 * Runs a use case with faults at some of its calls, repeats it as its client would, in the next process if one has ended, and
 * ends the last process and lets another one sweep.
 * @param strikes at calls as counted over all tries
 * @returns all calls, and how many faults struck
 */
async function runWith(row: UseCase, strikes: Strike[] = []): Promise<{ calls: Call[]; struck: number }> {
  const { domain: helper } = await service();
  const records = await row.prepare(helper);
  const answers: Answer<never>[] = [];
  const processes: FaultyProcess[] = [];
  const callsOf = () => processes.flatMap(({ calls }) => calls);
  async function start() {
    const made = callsOf().length;
    const left = strikes.map(({ at, fault }) => ({ at: at - made, fault }));
    const process = new FaultyProcess(left, sweep);
    processes.push(process);
    return { process, domain: await open(process) };
  }
  let { process, domain } = await start();
  for (let tries = 0; tries <= strikes.length; tries += 1) {
    const answer = await ask(process, row, domain, records);
    if (process.isDead) {
      // Nobody hears what a dead process answers.
      await domain.close();
      ({ process, domain } = await start());
      continue;
    }
    answers.push(answer);
    if (answer.ok || answer.code !== 'SERVICE_UNAVAILABLE') break;
  }
  for (const one of processes) await one.carryOutLate();
  const calls = callsOf();
  await end(process, domain);
  await sweep();
  const acked = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const told = answers.flatMap((answer) => (answer.ok ? [] : [answer.code]));
  expect(await row.stored(records, acked), 'stored').to.deep.equal(row.expected);
  expect(['SERVICE_UNAVAILABLE', ...(row.told ?? [])], 'told').to.include.members(told);
  expect(answers.at(-1)?.ok ? 'ok' : answers.at(-1), 'the last answer').to.not.deep.equal({
    ok: false,
    code: 'SERVICE_UNAVAILABLE',
  });
  const struck = processes.reduce((sum, one) => sum + one.struck, 0);
  return { calls, struck };
}

/** The faults that may strike a call: a read can only fail. */
const faultsOf = ({ isWrite }: Call) => (isWrite ? FAULTS : (['fails before'] as const));

/** Every fault at every call from a number on. */
function strikesAt(calls: Call[], from = 0): Strike[] {
  return calls.flatMap((call, at) => (at < from ? [] : faultsOf(call).map((fault) => ({ at, fault }))));
}

/** Runs a use case with these faults. @returns what went wrong, and how many of them struck */
async function outcomeOf(
  row: UseCase,
  calls: Call[],
  strikes: Strike[],
): Promise<{ failed: string[]; struck: number }> {
  try {
    const { struck } = await runWith(row, strikes);
    expect(struck, 'struck').to.be.at.least(1);
    return { failed: [], struck };
  } catch (error) {
    const where = strikes.map(({ at, fault }) => `call ${at}, ${calls[at]?.name}, ${fault}`).join('; ');
    return { failed: [`${where}: ${(error as Error).message}`], struck: strikes.length };
  }
}

/** What `npm run verify` finds, and marks that the sweep has left. */
async function findings(): Promise<string[]> {
  const checks = [
    ...checkMembers(),
    ...checkAdoption(),
    ...checkCommunity(),
    ...checkChat(),
    ...checkNotifications(),
  ];
  const found: string[] = [];
  for (const check of checks) for await (const { text } of check.run(() => {})) found.push(text);
  const pending = { pending: { $exists: true } };
  const left = {
    articles: await Article.countDocuments(pending),
    comments: await Comment.countDocuments(pending),
    hearts: await Heart.countDocuments(pending),
    messages: await Message.countDocuments({ unannounced: true }),
  };
  for (const [what, marks] of Object.entries(left)) if (marks > 0) found.push(`${marks} ${what} have a mark`);
  return found;
}

describe('a use case, whatever becomes of one of its calls to the database', () => {
  it('is in the table, if it is an area’s export that writes', async () => {
    const { domain } = await service();
    const areas = ['adoption', 'chat', 'community', 'members', 'notifications'] as const;
    const exported = areas.flatMap((area) => Object.keys(domain[area]).map((name) => `${area}.${name}`));
    const named = [...new Set(ROWS.map(({ name }) => name)), ...NO_WRITES];
    expect(named.sort()).to.deep.equal(exported.sort());
  });

  // Later sweeps have less to look at.
  afterEach(async () => {
    for (const { collection } of [Heart, Bookmark]) await collection.deleteMany({ articleId: { $gt: 0 } });
    for (const { collection } of [Article, Comment])
      await collection.deleteMany({ _id: { $gt: 0 } as never });
  });

  for (const row of ROWS) {
    it(`${row.name} ${row.what}`.trim(), async () => {
      const { calls } = await runWith(row);
      expect(
        calls.filter(({ isWrite }) => isWrite),
        'writes',
      ).to.not.be.empty;
      const failed: string[] = [];
      for (const strike of strikesAt(calls)) failed.push(...(await outcomeOf(row, calls, [strike])).failed);
      expect([...failed, ...(await findings())]).to.deep.equal([]);
    });
  }

  // The second fault strikes a later call of the same try, or one of its repetition.
  for (const row of chatRows.filter(({ name }) => name === 'chat.sendMessage')) {
    it(`${row.name} ${row.what}, with two faults`, async () => {
      const random = createRandom('FAULT_SEED');
      const { calls } = await runWith(row);
      const pairs: { calls: Call[]; strikes: Strike[] }[] = [];
      for (const first of strikesAt(calls)) {
        const { calls: all } = await runWith(row, [first]);
        for (const second of strikesAt(all, first.at + 1))
          pairs.push({ calls: all, strikes: [first, second] });
      }
      const failures: string[] = [];
      const count = pairs.length;
      let both = 0;
      while (both < PAIRS && pairs.length > 0) {
        const [{ calls: all, strikes }] = pairs.splice(random.below(pairs.length), 1) as [
          (typeof pairs)[number],
        ];
        const { failed, struck } = await outcomeOf(row, all, strikes);
        failures.push(...failed);
        // The second one finds no call if fewer are made than before: what is stored together varies.
        if (struck === 2) both += 1;
      }
      process.stdout.write(`      ${both} of ${count} pairs\n`);
      expect(both, 'pairs of which both struck').to.be.at.least(Math.min(PAIRS, 60));
      expect([...failures, ...(await findings())]).to.deep.equal([]);
    });
  }
});
