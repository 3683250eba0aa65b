import type { Cluster } from '../../support/cluster.js';
import { connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';
import { tellStory } from '../story/story.js';

/** The story of test/e2e/story in a cluster; each connection goes to the next process. */
export function itTellsTheSameStory(given: () => Cluster): void {
  it('shows the same state over REST, sockets and streams after random actions of three members', async () => {
    const cluster = given();
    const posts = new Map<number, number>();
    let connections = 0;
    const next = (bases: string[]) => {
      connections += 1;
      return bases[connections % bases.length] as string;
    };
    await tellStory({
      member: () => cluster.member(),
      connect: (who) => connect(who, {}, next(cluster.gateways)),
      openStream: (who) => openStream(who, { base: next(cluster.http) }),
      openRoom(author, asker) {
        const post = posts.get(author.no) ?? 0;
        posts.set(author.no, post + 1);
        return cluster.openRoomOf(author, asker, post);
      },
    });
  });
}
