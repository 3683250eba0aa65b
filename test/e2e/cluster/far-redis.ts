import type { Cluster } from '../../support/cluster.js';
import type { TcpProxy } from '../../support/tcp-proxy.js';
import { createChatClient } from './chat-client.js';
import { createChecker } from './checker.js';

/** Delay, in ms, to Redis and back from it. */
const DISTANCE_MS = 100;

/** Joins, each with a message sent right after it. */
const ROUNDS = 12;

/** Joins in a cluster of at least two gateways with the sharded adapter. */
export function itJoinsFarFromRedis(given: () => { cluster: Cluster; redis: TcpProxy }): void {
  it(`30: loses nothing that is sent right after a join, ${DISTANCE_MS} ms from Redis`, async () => {
    // Messages sent before the subscription of the join was confirmed were lost.
    const { cluster, redis } = given();
    redis.delay = DISTANCE_MS;
    const checker = createChecker();
    const rooms = await Promise.all(Array.from({ length: ROUNDS }, () => cluster.openRoom()));
    const clients = rooms.map(({ author, asker }, i) => ({
      author: createChatClient(`author ${i}`, author, () => cluster.gateways[0] as string, checker),
      asker: createChatClient(`asker ${i}`, asker, () => cluster.gateways[1] as string, checker),
    }));
    const all = clients.flatMap(({ author, asker }) => [author, asker]);
    await Promise.all(all.map((one) => one.socket()));
    await Promise.all(
      clients.map(async ({ author, asker }, i) => {
        const { chatNo } = rooms[i] as (typeof rooms)[0];
        await asker.enter(chatNo);
        const entered = author.enter(chatNo);
        await asker.send(chatNo);
        await entered;
        await asker.send(chatNo);
      }),
    );
    await Promise.all(rooms.map((room) => checker.verify(room, cluster.gateways[0] as string)));
    for (const one of all) one.close();
    redis.delay = 0;
  });
}
