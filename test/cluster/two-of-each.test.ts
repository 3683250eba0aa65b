import { expect } from 'chai';
import { itChatsOverSockets } from '../gateway/chat-behaviour.js';
import { type Cluster, startCluster } from '../support/cluster.js';
import { hasRedisServer } from '../support/redis.js';
import { connect } from '../support/sockets.js';
import { itTalksToTheWebApp } from './conversation.js';
import { itKeepsOrder } from './order.js';

for (const adapter of ['classic', 'sharded'] as const) {
  (hasRedisServer ? describe : describe.skip)(
    `two http processes and two gateways, ${adapter} adapter`,
    () => {
      let cluster: Cluster;
      let connections = 0;

      before(async () => {
        cluster = await startCluster({ http: 2, gateways: 2, adapter });
      });
      after(async () => {
        const errors = cluster?.errors();
        await cluster?.stop();
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

      // What these rest on is the same with both adapters.
      if (adapter === 'classic') {
        itTalksToTheWebApp(() => cluster);
        itKeepsOrder(() => cluster);
      }
    },
  );
}
