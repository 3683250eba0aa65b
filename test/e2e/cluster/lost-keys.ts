import { expect } from 'chai';
import { Redis } from 'ioredis';
import { pushTo } from '../../support/chat.js';
import { eventually, sleep } from '../../support/eventually.js';
import { keepsToMemory } from '../../support/redis.js';
import { isReady, metric } from '../../support/rest.js';
import { type Client, connect } from '../../support/sockets.js';
import type { TwoOfEach } from './two-of-each.js';

/** Within this time presence is right again on all processes, ms. (contract, section 5) */
const PROMISED_MS = 1_000;

/** Messages that are sent meanwhile. */
const MESSAGES = 10;

/** Tests of presence that Redis loses while it runs, as members see it. */
export function itKeepsPresence(two: TwoOfEach): void {
  let admin: Redis;
  beforeEach(() => {
    admin = new Redis(two.cluster.redis.port, '127.0.0.1');
  });
  afterEach(() => admin.disconnect());

  /** Both members of a room are in it, on two gateways. */
  async function openRoom() {
    const room = await two.cluster.openRoom();
    const [first, second] = two.cluster.gateways as [string, string];
    const [author, asker] = await Promise.all([
      connect(room.author, {}, first),
      connect(room.asker, {}, second),
    ]);
    for (const client of [author, asker]) await client.join(room.chatNo);
    const both = [room.author.no, room.asker.no].sort((a, b) => a - b);
    return { ...room, sockets: { author, asker }, both };
  }

  const notified = (client: Client, content: string) =>
    client.next<{ content: string }>('notification', (one) => one.content === content);

  const ways: [how: string, lose: () => Promise<unknown>][] = [
    ['is emptied', () => admin.flushall()],
    [
      'evicts keys',
      () => keepsToMemory(admin, 'allkeys-random', () => admin.set('one', 'more').catch(() => {})),
    ],
  ];
  for (const [how, lose] of ways) {
    it(`25: presence is right again within 1 s on all processes when Redis ${how}`, async () => {
      const { chatNo, saleNo, sockets, both, asker } = await openRoom();
      await lose();
      await sleep(PROMISED_MS);
      // Of a process that knows nobody: it has to ask Redis.
      for (let i = 0; i < MESSAGES; i += 1) {
        const { status } = await pushTo({ chatNo, saleNo }, asker, `message ${i}`);
        expect(status).to.equal(200);
      }
      expect((await sockets.asker.join(chatNo)).present).to.deep.equal(both);
      await sockets.asker.ask('room:leave', { chatNo });
      await sockets.author.send(chatNo, 'while one is away');
      await notified(sockets.asker, 'while one is away');
      expect(sockets.asker.heard('notification')).to.have.length(1);
      expect(
        sockets.author.heard<{ present: boolean }>('presence').filter(({ present }) => !present),
      ).to.have.length(1);
    });
  }

  it('25: Redis has no memory left: members come, stay and go as ever, and processes stay ready', async () => {
    const { chatNo, sockets, both } = await openRoom();
    await keepsToMemory(admin, 'noeviction', async () => {
      expect(await admin.set('one', 'more').catch(({ message }) => message)).to.match(/^OOM/);
      for (const base of two.cluster.gateways)
        await eventually(async () => expect(await metric(base, 'adoption_redis_storing')).to.equal(0));
      for (let i = 0; i < MESSAGES; i += 1) await sockets.asker.send(chatNo, `message ${i}`);
      expect((await sockets.asker.join(chatNo)).present).to.deep.equal(both);
      for (const base of [...two.cluster.http, ...two.cluster.gateways])
        expect(await isReady(base)).to.equal(true);
      await sockets.author.ask('room:leave', { chatNo });
      await sockets.asker.send(chatNo, 'while one is away');
      await notified(sockets.author, 'while one is away');
      expect(sockets.author.heard('notification')).to.have.length(1);
    });
    for (const base of two.cluster.gateways)
      await eventually(async () => expect(await metric(base, 'adoption_redis_storing')).to.equal(1), 10_000);
  });
}
