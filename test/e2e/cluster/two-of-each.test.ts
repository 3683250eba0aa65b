import { expect } from 'chai';
import { startTcpProxy, type TcpProxy } from '../../../scripts/command/tcp-proxy.js';
import { board } from '../../api/web-app/board.recording.js';
import { chat } from '../../api/web-app/chat.recording.js';
import { notifications } from '../../api/web-app/notifications.recording.js';
import { play } from '../../api/web-app/player.js';
import { itChatsOverSockets } from '../../gateway/chat-behaviour.js';
import { type Cluster, startCluster } from '../../support/cluster.js';
import { hasRedisServer } from '../../support/redis.js';
import { connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';
import { tellStory } from '../story/story.js';
import { useChatClients } from './load.js';
import { itKeepsOrder } from './order.js';

/** Delay, in ms, to Redis and back from it. */
const DISTANCE_MS = 100;

for (const adapter of ['classic', 'sharded'] as const) {
  const suite = hasRedisServer ? describe : describe.skip;
  suite(`two http processes and two gateways, ${adapter} adapter`, () => {
    let cluster: Cluster;
    let redis: TcpProxy;
    const turns = { http: 0, gateways: 0 };

    before(async () => {
      cluster = await startCluster({
        http: 2,
        gateways: 2,
        adapter,
        async redisPort(own) {
          redis = await startTcpProxy(() => own);
          return redis.port;
        },
      });
    });
    after(async () => {
      const errors = cluster?.errors();
      await cluster?.stop();
      await redis?.close();
      expect(errors).to.deep.equal([]);
    });

    /** The next process in turn. */
    function next(kind: 'http' | 'gateways'): string {
      turns[kind] += 1;
      return cluster[kind][turns[kind] % 2] as string;
    }

    itChatsOverSockets({
      member: () => cluster.member(),
      openRoom: () => cluster.openRoom(),
      call: (path) => cluster.call(path),
      connect: (who) => connect(who, {}, next('gateways')),
    });

    // The other suites do not depend on the adapter.
    if (adapter === 'sharded') itJoinsFarFromRedis();
    else itServesFromAnyProcess();

    function itJoinsFarFromRedis(): void {
      const clients = useChatClients();

      it(`30: loses nothing that is sent right after a join, ${DISTANCE_MS} ms from Redis`, async () => {
        // Messages sent before the subscription of the join was confirmed were lost.
        redis.delay = DISTANCE_MS;
        const rooms = await Promise.all(Array.from({ length: 12 }, () => cluster.openRoom()));
        const [first, second] = cluster.gateways as [string, string];
        await Promise.all(
          rooms.map(async (room, i) => {
            const author = clients.open(`author ${i}`, room.author, () => first);
            const asker = clients.open(`asker ${i}`, room.asker, () => second);
            await Promise.all([author.socket(), asker.socket()]);
            await asker.enter(room.chatNo);
            const entered = author.enter(room.chatNo);
            await asker.send(room.chatNo);
            await entered;
            await asker.send(room.chatNo);
          }),
        );
        await Promise.all(rooms.map((room) => clients.checker.verify(room, first)));
        redis.delay = 0;
      });
    }

    function itServesFromAnyProcess(): void {
      it('answers the web app as recorded, each call by another process', async () => {
        const [author, asker] = [await cluster.member(), await cluster.member()];
        await play([...board, ...notifications, ...chat], {
          author,
          asker,
          sale: author.posts[0] as number,
          http: () => next('http'),
          gateway: () => next('gateways'),
        });
      });

      it('shows the same state over REST, sockets and streams after random actions of three members', async () => {
        const posts = new Map<number, number>();
        await tellStory({
          member: () => cluster.member(),
          connect: (who) => connect(who, {}, next('gateways')),
          openStream: (who) => openStream(who, { base: next('http') }),
          openRoom(author, asker) {
            const post = posts.get(author.no) ?? 0;
            posts.set(author.no, post + 1);
            return cluster.openRoomOf(author, asker, post);
          },
        });
      });

      itKeepsOrder(() => cluster);
    }
  });
}
