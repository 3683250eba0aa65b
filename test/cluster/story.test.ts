import { expect } from 'chai';
import { tellStory } from '../story/story.js';
import { type Cluster, startCluster } from '../support/cluster.js';
import { hasRedisServer } from '../support/redis.js';
import { connect } from '../support/sockets.js';
import { openStream } from '../support/streams.js';

(hasRedisServer ? describe : describe.skip)('the same story from five processes', () => {
  let cluster: Cluster;

  before(async () => {
    cluster = await startCluster({ http: 2, gateways: 3, sharedPort: true });
  });
  after(() => cluster?.stop());

  it('after random actions of three members', async () => {
    const posts = new Map<number, number>();
    let streams = 0;
    await tellStory({
      member: () => cluster.member(),
      connect: (who) => connect(who, {}, cluster.gateways[0] as string),
      openStream(who) {
        streams += 1;
        return openStream(who, { base: cluster.http[streams % cluster.http.length] as string });
      },
      openRoom(author, asker) {
        const post = posts.get(author.no) ?? 0;
        posts.set(author.no, post + 1);
        return cluster.openRoomOf(author, asker, post);
      },
    });
    expect(cluster.errors()).to.deep.equal([]);
  });
});
