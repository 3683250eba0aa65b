import { expect } from 'chai';
import { itChatsOverSockets } from '../../gateway/chat-behaviour.js';
import { type Cluster, startCluster } from '../../support/cluster.js';
import { hasRedisServer } from '../../support/redis.js';
import { connect } from '../../support/sockets.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { itTalksToTheWebApp } from './conversation.js';
import { itJoinsFarFromRedis } from './far-redis.js';
import { itKeepsOrder } from './order.js';
import { itTellsTheSameStory } from './story.js';

for (const adapter of ['classic', 'sharded'] as const) {
  (hasRedisServer ? describe : describe.skip)(
    `two http processes and two gateways, ${adapter} adapter`,
    () => {
      let cluster: Cluster;
      let redis: TcpProxy;
      let connections = 0;

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

      itChatsOverSockets({
        member: () => cluster.member(),
        openRoom: () => cluster.openRoom(),
        call: (path) => cluster.call(path),
        connect(who) {
          connections += 1;
          return connect(who, {}, cluster.gateways[connections % 2]);
        },
      });

      // The other suites do not depend on the adapter.
      if (adapter === 'sharded') {
        itJoinsFarFromRedis(() => ({ cluster, redis }));
      } else {
        itTalksToTheWebApp(() => cluster);
        itTellsTheSameStory(() => cluster);
        itKeepsOrder(() => cluster);
      }
    },
  );
}
