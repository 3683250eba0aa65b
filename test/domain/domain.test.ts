import { expect } from 'chai';
import mongoose from 'mongoose';
import { createDomain, type Domain } from '../../domain/domain.js';
import type { Live } from '../../domain/kernel/live.js';
import { redisChannels } from '../../domain/kernel/redis-keys.js';
import { livingProcesses } from '../../domain/platform/cluster/heartbeat.model.js';
import { databaseTime } from '../../domain/platform/mongo/database-time.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import type { Report } from '../../domain/platform/redis/reports.js';
import { eventually, nextTurn } from '../support/eventually.js';
import { hasRedisServer, openConnections, reaches, startRedis, type TestRedis } from '../support/redis.js';
import { service } from '../support/service.js';
import { later } from '../support/time.js';

const silent = createLogger('silent', 'test');

/** Sockets that nobody is connected to. */
const live = new Proxy({}, { get: () => () => false }) as Live;

describe('a process’s domain', () => {
  let domain: Domain | undefined;
  afterEach(() => domain?.close());

  async function open(redis?: RedisConnection): Promise<Domain> {
    const { config } = await service();
    domain = await createDomain({ config, logger: silent, live, redis });
    return domain;
  }

  it('sweeps at its start and every thirty seconds, one sweep at a time', async () => {
    const { community, chat, start, close } = await open();
    const looks: string[] = [];
    let finish = () => {};
    let ending: AbortSignal | undefined;
    community.sweep = (signal) => {
      looks.push('community');
      ending = signal;
      return new Promise((resolve, reject) => {
        finish = looks.length > 5 ? () => reject(new Error('away')) : resolve;
      });
    };
    chat.sweep = async () => {
      looks.push('chat');
    };
    const { setInterval, clearInterval } = globalThis;
    const timers: { look: () => void; ms: number }[] = [];
    const ended: unknown[] = [];
    globalThis.setInterval = ((look: () => void, ms: number) => {
      const timer = { look, ms, unref() {} };
      timers.push(timer);
      return timer;
    }) as never;
    globalThis.clearInterval = ((timer: unknown) => ended.push(timer)) as never;
    try {
      let isStarted = false;
      const starting = start().then(() => {
        isStarted = true;
      });
      while (looks.length < 2) await nextTurn();
      expect(isStarted, 'the counts are right before anything is served').to.equal(false);
      finish();
      await starting;
      // The one before is the heartbeat's.
      const timer = timers.filter(({ ms }) => ms === 30_000).at(-1);
      expect(looks).to.deep.equal(['chat', 'community']);
      timer?.look();
      timer?.look();
      expect(looks.slice(2)).to.deep.equal(['chat', 'community', 'chat']);
      finish();
      await nextTurn();
      timer?.look();
      expect(looks.slice(5)).to.deep.equal(['chat', 'community']);
      // A look that fails is not the last one.
      finish();
      await nextTurn();
      timer?.look();
      expect(looks.slice(7)).to.deep.equal(['chat', 'community']);
      const end = chat.close;
      chat.close = async () => {
        looks.push('chat closed');
        await end();
      };
      const closed = close().then(() => looks.push('closed'));
      expect(ended).to.include(timer);
      expect(ending?.aborted, 'told to end').to.equal(true);
      await nextTurn();
      expect(looks.slice(9), 'and waited for, while the chat is closed').to.deep.equal(['chat closed']);
      finish();
      await closed;
    } finally {
      Object.assign(globalThis, { setInterval, clearInterval });
    }
  });

  it('closes its areas before it is closed', async () => {
    const { chat, notifications, close } = await open();
    const ended: string[] = [];
    for (const [name, area] of Object.entries({ chat, notifications })) {
      const end = area.close;
      area.close = async () => {
        await end();
        await nextTurn();
        ended.push(name);
      };
    }
    await close();
    expect(ended).to.deep.equal(['chat', 'notifications']);
  });

  describe('with Redis', () => {
    const connections = openConnections();
    let server: TestRedis;
    before(async function () {
      if (!hasRedisServer) this.skip();
      server = await startRedis();
    });
    after(async () => {
      await connections.close();
      await server?.stop();
    });

    it('leaves no listeners on Redis when closed', async () => {
      const redis = await connections.connect(server.url);
      const on = redis.on.bind(redis);
      let listening = 0;
      redis.on = (...listener) => {
        const stop = on(...listener);
        listening += 1;
        return () => {
          listening -= 1;
          stop();
        };
      };
      const heard = () => redis.subscriber().listenerCount('messageBuffer');
      const before = heard();
      const { close } = await open(redis);
      expect([listening, heard() - before]).to.not.include(0);
      await close();
      expect([listening, heard() - before]).to.deep.equal([0, 0]);
    });

    it('hears the reports of another process, which it believes by the time of the database', async () => {
      const there = await open(await connections.connect(server.url));
      const here = await open(await connections.connect(server.url));
      const at: number[] = [];
      here.reports?.onReport((report) => at.push(report.at));
      await here.start();
      await there.start();
      try {
        await eventually(() => expect(at).to.not.be.empty);
        expect(at[0]).to.be.closeTo((await databaseTime()).getTime(), 10_000);
      } finally {
        await there.close();
      }
    });

    it('says goodbye if everything is published, and otherwise leaves as a killed process does', async () => {
      const redis = await connections.connect(server.url);
      const { publish } = redis;
      for (const isPublished of [true, false]) {
        const said: Report[] = [];
        redis.publish = (channel, text) => {
          if (channel === redisChannels.reports) said.push(JSON.parse(text));
          return publish.call(redis, channel, text);
        };
        const { chat, start, close } = await open(redis);
        chat.isSettled = () => isPublished;
        await start();
        const name = said[0]?.from as string;
        expect(await livingProcesses()).to.include(name);
        await close();
        expect([said.at(-1)?.isLast, (await livingProcesses()).includes(name)]).to.deep.equal([
          isPublished,
          !isPublished,
        ]);
        await mongoose.connection.collection('heartbeats').deleteOne({ _id: name as never });
      }
    });

    it('repeats changes from five seconds before Redis was found away', async () => {
      const redis = await connections.connect(server.url);
      const { chat, close } = await open(redis);
      const since: number[] = [];
      chat.resendSince = (from) => {
        since.push(from);
        return Promise.resolve() as never;
      };
      const interrupt = async () => {
        const back = reaches(redis, 'up');
        await redis.ask(() => Promise.reject(new Error('lost')));
        await redis.ping();
        await back;
      };
      const before = performance.now();
      await interrupt();
      expect(since).to.have.length(1);
      expect(since[0]).to.be.within(before - 5_000, performance.now() - 5_000);
      await interrupt();
      expect(since[1], 'what was sent again may be lost, too').to.equal(since[0]);
      await later(6_000, interrupt);
      expect(since[2], 'not what was sent again long before').to.be.at.least(before + 1_000);
      await close();
      await interrupt();
      expect(since, 'nothing after its end').to.have.length(3);
    });
  });
});
