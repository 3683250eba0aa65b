import { expect } from 'chai';
import { board } from '../app/board.recording.js';
import { chat } from '../app/chat.recording.js';
import { notifications } from '../app/notifications.recording.js';
import { play } from '../app/player.js';
import { type Cluster, startCluster } from '../support/cluster.js';
import { hasRedisServer } from '../support/redis.js';

(hasRedisServer ? describe : describe.skip)('what the web app says to several processes', () => {
  let cluster: Cluster;

  before(async () => {
    cluster = await startCluster({ http: 2, gateways: 2 });
  });
  after(() => cluster?.stop());

  it('is answered as the app expects, by another process with each call', async () => {
    const [author, asker] = [await cluster.member(), await cluster.member()];
    const turns = { http: 0, gateways: 0 };
    const next = (kind: 'http' | 'gateways') => () => {
      turns[kind] += 1;
      return cluster[kind][turns[kind] % cluster[kind].length] as string;
    };
    await play([...board, ...notifications, ...chat], {
      author,
      asker,
      sale: author.posts[0] as number,
      http: next('http'),
      gateway: next('gateways'),
    });
    expect(cluster.errors()).to.deep.equal([]);
  });
});
