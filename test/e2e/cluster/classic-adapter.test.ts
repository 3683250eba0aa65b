import { board } from '../../api/web-app/board.recording.js';
import { chat } from '../../api/web-app/chat.recording.js';
import { notifications } from '../../api/web-app/notifications.recording.js';
import { play } from '../../api/web-app/player.js';
import { connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';
import { tellStory } from '../story/story.js';
import { itKeepsPresence } from './lost-keys.js';
import { itKeepsOrder } from './order.js';
import { describeTwoOfEach } from './two-of-each.js';

// What does not depend on the adapter is tested with this one.
describeTwoOfEach('classic', (two) => {
  const { next } = two;
  it('answers the web app as recorded, each call by another process', async () => {
    const [author, asker] = [await two.cluster.member(), await two.cluster.member()];
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
      member: () => two.cluster.member(),
      connect: (who) => connect(who, {}, next('gateways')),
      openStream: (who) => openStream(who, { base: next('http') }),
      openRoom(author, asker) {
        const post = posts.get(author.no) ?? 0;
        posts.set(author.no, post + 1);
        return two.cluster.openRoomOf(author, asker, post);
      },
    });
  });

  itKeepsOrder(() => two.cluster);
  itKeepsPresence(two);
});
