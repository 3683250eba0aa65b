import { member } from '../../support/api.js';
import { adoptionPost } from '../../support/chat.js';
import { service } from '../../support/service.js';
import { board } from './board.recording.js';
import { chat } from './chat.recording.js';
import { notifications } from './notifications.recording.js';
import { play } from './player.js';

describe('the recorded calls of the web app', () => {
  it('are answered as the app expects, from the board to the chat', async () => {
    const { http, gateway } = await service();
    const [author, asker] = [await member(), await member()];
    await play([...board, ...notifications, ...chat], {
      author,
      asker,
      sale: await adoptionPost(author),
      http: () => http,
      gateway: () => gateway,
    });
  });
});
