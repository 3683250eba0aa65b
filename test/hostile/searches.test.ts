import { createRequire } from 'node:module';
import { mock } from 'node:test';
import { expect } from 'chai';
import { Article } from '../../domain/community/article.model.js';
import type { ArticleList } from '../../domain/community/index.js';
import { createDomain } from '../../domain/domain.js';
import type { Live } from '../../domain/kernel/live.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { anyone, type Member, member, type Reply } from '../support/api.js';
import { openRoom } from '../support/chat.js';
import { counted } from '../support/counted.js';
import { interceptCalls } from '../support/database-calls.js';
import { eventually, gate } from '../support/eventually.js';
import { serveHttp } from '../support/http-server.js';
import { restClient } from '../support/rest.js';
import { service } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';
import { createWatchedLogger } from '../support/unexpected-errors.js';

/** Articles of the test; a search reads 200 at a time. */
const ARTICLES = 700;

/** Those with a word of their own in the text, from the oldest. */
const MARKED = [0, 1, 350, 699];

interface Command {
  maxTimeMS?: number;
  [name: string]: unknown;
}

/** The driver's connections, whose commands the tests see. */
function driverConnection(): { prototype: { command(namespace: unknown, command: Command): unknown } } {
  const ofMongoose = createRequire(createRequire(import.meta.url).resolve('mongoose'));
  return ofMongoose('mongodb/lib/cmap/connection.js').Connection;
}

describe('searches', () => {
  let writer: Member;
  let first: number;
  let categoryId: number;

  before(async () => {
    writer = await member({ nickname: `Searched ${Date.now()}` });
    categoryId = 1_700_000_000 + (Date.now() % 100_000_000);
    first = 5_000_000;
    const records = Array.from({ length: ARTICLES }, (_, i) => ({
      ...{
        _id: first + i,
        authorNo: writer.no,
        categoryId,
        title: `Title ${i}`,
        state: 'live',
        hearts: i % 7,
      },
      context: `${'x'.repeat(2_000)} ${MARKED.includes(i) ? 'marked' : ''}`,
      publishedAt: new Date(),
    }));
    await Article.insertMany(records);
  });
  afterEach(() => mock.restoreAll());

  const path = (query: string, order = 'recent') =>
    `/community/list/${order}?categoryId=${categoryId}&${query}`;
  const positions = async (query: string, order?: string) =>
    (await anyone.get<ArticleList>(path(query, order))).body.list.map(({ id }) => id - first);

  it('find what is anywhere in the list, in its order, page by page', async () => {
    expect(await positions('keyword=MARKED&option=2')).to.deep.equal(MARKED.toReversed());
    expect(await positions('keyword=marked&option=3&size=3')).to.deep.equal([699, 350, 1]);
    expect(await positions('keyword=marked&option=3&size=3&page=2')).to.deep.equal([0]);
    expect(await positions('keyword=marked&option=3&size=3&page=3')).to.deep.equal([]);
    // By hearts, which are the remainders of 7: 6, 1, 0 and 0.
    expect(await positions('keyword=marked&option=context', 'like')).to.deep.equal([699, 1, 350, 0]);
    expect(await positions(`keyword=${writer.nickname}&option=author&page=14&size=50`)).to.have.length(50);
    expect(await positions(`keyword=${writer.nickname}&option=author&page=15&size=50`)).to.deep.equal([]);
    expect(await positions('keyword=title%20699&option=title')).to.deep.equal([699]);
  });

  it('read at most 200 articles at a time, and no more than they need', async () => {
    // One search was one query over all articles, while nothing else was answered.
    const slices: number[] = [];
    const stop = interceptCalls([Article], async (_, call, run, argument) => {
      if (call === 'aggregate') {
        const stages = argument as { $limit?: number; $match?: object }[];
        if (stages.some((stage) => JSON.stringify(stage).includes('$regex')))
          slices.push(stages.find((stage) => stage.$limit !== undefined)?.$limit ?? Number.POSITIVE_INFINITY);
      }
      return run();
    });
    try {
      await positions('keyword=nowhere&option=3');
      expect(slices).to.deep.equal([200, 200, 200, 200]);
      slices.length = 0;
      await positions('keyword=title&option=1');
      expect(slices).to.deep.equal([200]);
    } finally {
      stop();
    }
  });

  it('run two at once, eight more wait, and the others get 429 with Retry-After; nobody else does', async () => {
    // Of twenty searchers, members got 503 four times in five.
    const { config } = await service();
    const limited = { ...config, SEARCHES_AT_ONCE: 2 };
    const live = {} as Live;
    const { community, close } = await createDomain({ config: limited, logger: createWatchedLogger(), live });
    const { server, base } = await serveHttp({}, { community });
    const searcher = restClient(() => base);
    const { opened, open } = gate();
    let running = 0;
    const stop = interceptCalls([Article], async (_, call, run) => {
      if (call === 'aggregate') {
        running += 1;
        await opened;
      }
      return run();
    });
    const refused: Reply[] = [];
    const hits = await counted(metrics.limitHits, { limit: 'searches' });
    try {
      const searches = Array.from({ length: 20 }, async (_, i) => {
        const answer = await searcher.get(path(`keyword=no${i}&option=3`));
        if (answer.status !== 200) refused.push(answer);
        return answer.status;
      });
      await eventually(() => expect(refused).to.have.length(10));
      for (const { status, body, headers } of refused) {
        expect(status).to.equal(429);
        expect(body).to.include({ message: 'RATE_LIMITED' });
        expect(headers.get('retry-after')).to.equal('1');
      }
      expect(running).to.equal(2);
      expect(await counted(metrics.limitHits, { limit: 'searches' })).to.equal(hits + 10);
      expect(await counted(metrics.queueLength, { queue: 'searches' })).to.equal(8);
      for (const other of ['/chatroom', '/community/list/recent', '/community/list/recent?keyword=x'])
        expect((await restClient(() => base, writer.token).get(other)).status, other).to.equal(200);
      open();
      expect((await Promise.all(searches)).filter((status) => status === 200)).to.have.length(10);
    } finally {
      open();
      stop();
    }
    const again = await searcher.get<ArticleList>(path('keyword=marked&option=2'));
    expect(again.body.list, 'the turns were given back').to.have.length(4);
    await server.drain();
    await close();
  });

  it('of clients that have gone leave the queue, and end after the slice that they read', async () => {
    // Whoever closed their connection kept a turn: eight of them, and nobody could search.
    const { config } = await service();
    const limited = { ...config, SEARCHES_AT_ONCE: 1 };
    const { community, close } = await createDomain({
      ...{ config: limited, logger: createWatchedLogger(), live: {} as Live },
    });
    const { server, base } = await serveHttp({}, { community });
    const { opened, open } = gate();
    let slices = 0;
    const stop = interceptCalls([Article], async (_, call, run) => {
      if (call === 'aggregate') {
        slices += 1;
        await opened;
      }
      return run();
    });
    const waiting = () => counted(metrics.queueLength, { queue: 'searches' });
    try {
      const gone = new AbortController();
      const searches = Array.from({ length: 9 }, (_, i) =>
        fetch(`${base}${path(`keyword=nowhere${i}&option=3`)}`, { signal: gone.signal }).catch(() => 'gone'),
      );
      await eventually(async () => expect([slices, await waiting()]).to.deep.equal([1, 8]));
      gone.abort();
      expect(await Promise.all(searches)).to.deep.equal(searches.map(() => 'gone'));
      await eventually(async () => expect(await waiting()).to.equal(0));
      open();
      const { body } = await restClient(() => base).get<ArticleList>(path('keyword=marked&option=2'));
      expect(body.list).to.have.length(4);
      // One slice of the search that was under way, and four of this one.
      expect(slices).to.equal(5);
    } finally {
      open();
      stop();
    }
    await server.drain();
    await close();
  });

  it('have a budget of their own, apart from other reads', async () => {
    const limited = await startServiceProcess({ RATE_LIMIT: 'on' });
    try {
      const search = async () =>
        (await limited.anyone.get('/community/list/recent?keyword=x&option=1')).status;
      for (let i = 0; i < 20; i += 1) expect(await search()).to.equal(200);
      expect(await search()).to.equal(429);
      expect((await limited.anyone.get('/community/list/recent?option=1')).status).to.equal(200);
      const asMember = limited.as(await limited.token('searcher@example.org'));
      expect((await asMember.get('/community/list/recent?keyword=x&option=1')).status).to.equal(200);
    } finally {
      await limited.stop();
    }
  });

  it('and all other reads give the database a time limit', async () => {
    const { asker, chatNo } = await openRoom();
    const { command } = driverConnection().prototype;
    const commands: Command[] = [];
    mock.method(
      driverConnection().prototype,
      'command',
      function (this: object, ...args: [unknown, Command]) {
        commands.push(args[1]);
        return command.apply(this, args);
      },
    );
    const article = await (await service()).domain.community.createArticle(writer.actor, {
      ...{ categoryId: 1, title: 'A title', context: 'A text', imageList: [], thumbnail: '' },
    });
    for (const asked of [
      '/community/list/recent',
      '/community/list/like?categoryId=1',
      path('keyword=marked&option=3'),
      path('keyword=x&option=author'),
      `/community/article/${article}`,
      `/community/comment/${article}`,
      '/adopt/render',
      '/chatroom',
      `/chatroom/${chatNo}`,
      '/notification/all',
    ])
      expect((await asker.get(asked)).status, asked).to.equal(200);
    const reads = ['find', 'aggregate', 'count', 'distinct', 'findAndModify'];
    // A sweep may run meanwhile: it reads marked records by cursors.
    const queries = commands.filter(
      (one) =>
        reads.includes(Object.keys(one)[0] ?? '') &&
        !/pending|unannounced/.test(JSON.stringify(one.filter ?? {})),
    );
    expect(queries.length).to.be.above(12);
    const unlimited = queries.filter(({ maxTimeMS }) => maxTimeMS !== 5_000);
    expect(unlimited.map((one) => Object.entries(one).slice(0, 2))).to.deep.equal([]);
  });
});
