import { board } from '../../api/web-app/board.recording.js';
import { chat } from '../../api/web-app/chat.recording.js';
import { notifications } from '../../api/web-app/notifications.recording.js';
import { play } from '../../api/web-app/player.js';
import type { Cluster } from '../../support/cluster.js';

/** The recorded calls of the web app, each to the next process of a cluster. */
export function itTalksToTheWebApp(given: () => Cluster): void {
  it('answers the web app as recorded, each call by another process', async () => {
    const cluster = given();
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
  });
}
