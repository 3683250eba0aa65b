import { useChatClients } from './load.js';
import { itKeepsPresence } from './lost-keys.js';
import { describeTwoOfEach } from './two-of-each.js';

/** Delay, in ms, to Redis and back from it. */
const DISTANCE_MS = 100;

describeTwoOfEach('sharded', (two) => {
  const clients = useChatClients();

  it(`30: loses nothing that is sent right after a join, ${DISTANCE_MS} ms from Redis`, async () => {
    // Messages sent before the subscription of the join was confirmed were lost.
    two.redis.delay = DISTANCE_MS;
    const rooms = await Promise.all(Array.from({ length: 12 }, () => two.cluster.openRoom()));
    const [first, second] = two.cluster.gateways as [string, string];
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
    two.redis.delay = 0;
  });

  itKeepsPresence(two);
});
