import { expect } from 'chai';
import { startTcpProxy, type TcpProxy } from '../../../scripts/command/tcp-proxy.js';
import { itChatsOverSockets } from '../../gateway/chat-behaviour.js';
import { type Cluster, startCluster } from '../../support/cluster.js';
import { hasRedisServer } from '../../support/redis.js';
import { connect } from '../../support/sockets.js';

/** Two http processes and two gateways. */
export interface TwoOfEach {
  readonly cluster: Cluster;
  /** Between the processes and Redis. */
  readonly redis: TcpProxy;
  /** The next process in turn. */
  next(kind: 'http' | 'gateways'): string;
}

/** A suite of such a cluster: chat over sockets, which both adapters must carry alike, and further tests. */
export function describeTwoOfEach(adapter: 'classic' | 'sharded', further: (two: TwoOfEach) => void): void {
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

    const two: TwoOfEach = {
      get cluster() {
        return cluster;
      },
      get redis() {
        return redis;
      },
      next(kind) {
        turns[kind] += 1;
        return cluster[kind][turns[kind] % 2] as string;
      },
    };

    itChatsOverSockets({
      member: () => cluster.member(),
      openRoom: () => cluster.openRoom(),
      call: (path) => cluster.call(path),
      connect: (who) => connect(who, {}, two.next('gateways')),
    });
    further(two);
  });
}
