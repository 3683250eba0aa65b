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
import { toAppError } from '../../domain/platform/failures.js';
import { createLogger } from '../../domain/platform/logger.js';
import { type Call, FAULTS, type Fault, FaultyProcess } from '../support/fault-points.js';
import { service } from '../support/service.js';
import { chatRows } from './chat.js';
import { communityRows } from './community.js';
import { otherRows } from './others.js';
import { type Answer, live, type UseCase } from './use-case.js';

const ROWS = [...communityRows, ...chatRows, ...otherRows];

/** Exports of areas that write nothing, or nothing that is to outlive the process. */
const NO_WRITES = [
  'adoption: listRenderRecords findPost findPosts',
  'chat: noteClient listRooms echoMessage leaveRoom disconnectFromRoom requireParticipant readAfter heads headsOf',
  'chat: knownHead viewRoom noteMessage noteRead setFollowed resendSince acceptPresence checkPresence close',
  'community: listArticles listComments',
  'members: directory',
  'notifications: list resumeAfter replayAfter subscribe acceptPush pollSoon startPoll close',
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
 * Runs a use case with a fault at one of its calls, repeats it as its client would, ends the process, and lets the next one sweep.
 * @returns the calls of the first try, and whether the fault struck
 */
async function runWith(row: UseCase, strikes?: { at: number; fault: Fault }) {
  const { domain: helper } = await service();
  const records = await row.prepare(helper);
  const process = new FaultyProcess(strikes, sweep);
  const domain = await open(process);
  const answers: Answer<never>[] = [];
  const first = await ask(process, row, domain, records);
  // Nobody hears what a dead process answers.
  if (!process.isDead) answers.push(first);
  const { struck } = process;
  const calls = [...process.calls];
  if (process.isDead) {
    await domain.close();
    const next = new FaultyProcess();
    const nextDomain = await open(next);
    answers.push(await ask(next, row, nextDomain, records));
    await end(next, nextDomain);
  } else {
    if (!first.ok && first.code === 'SERVICE_UNAVAILABLE')
      answers.push(await ask(process, row, domain, records));
    await process.carryOutLate();
    await end(process, domain);
  }
  await sweep();
  const acked = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const told = answers.flatMap((answer) => (answer.ok ? [] : [answer.code]));
  expect(await row.stored(records, acked), 'stored').to.deep.equal(row.expected);
  expect(['SERVICE_UNAVAILABLE', ...(row.told ?? [])], 'told').to.include.members(told);
  expect(answers.at(-1)?.ok ? 'ok' : answers.at(-1), 'the last answer').to.not.deep.equal({
    ok: false,
    code: 'SERVICE_UNAVAILABLE',
  });
  return { calls, struck };
}

/** Runs a use case with every fault at one of its calls; a read can only fail. @returns what went wrong */
async function failuresAt(row: UseCase, at: number, { name, isWrite }: Call): Promise<string[]> {
  const failed: string[] = [];
  for (const fault of isWrite ? FAULTS : (['fails before'] as const)) {
    try {
      const { struck } = await runWith(row, { at, fault });
      expect(struck, 'struck').to.equal(true);
    } catch (error) {
      failed.push(`call ${at}, ${name}, ${fault}: ${(error as Error).message}`);
    }
  }
  return failed;
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
      for (const [at, call] of calls.entries()) failed.push(...(await failuresAt(row, at, call)));
      expect([...failed, ...(await findings())]).to.deep.equal([]);
    });
  }
});
