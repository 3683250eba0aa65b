import { expect } from 'chai';
import { type OpenedRoom, openRoom } from '../support/chat.js';
import { eventually, gate, nextTurn } from '../support/eventually.js';
import { service } from '../support/service.js';
import { type Client, connect } from '../support/sockets.js';

describe('clients that do not wait for answers', () => {
  let room: OpenedRoom;
  let watcher: Client;

  beforeEach(async () => {
    room = await openRoom();
    watcher = await connect(room.asker);
    await watcher.join(room.chatNo);
  });

  async function present(): Promise<number[]> {
    const { present: numbers } = await watcher.join<{ present: number[] }>(room.chatNo);
    return numbers;
  }

  it('leaves nobody behind in a room whose client went away while it was joining', async () => {
    // The join waited behind a send of the room while its connection closed; presence was entered for a
    // connection that was gone, and nothing ever ended it: every later message counted as read.
    const { author, chatNo } = room;
    for (let round = 0; round < 20; round += 1) {
      const client = await connect(author);
      for (let i = 0; i < 3; i += 1) {
        watcher.socket.emit('message:send', { chatNo, contentType: 'text', content: 'busy' });
      }
      client.socket.emit('room:join', { chatNo });
      // The packet is on its way when the transport goes.
      await nextTurn();
      client.socket.io.engine.close();
    }
    await eventually(async () => expect(await present()).to.deep.equal([room.asker.no]));
    await watcher.send(chatNo, 'are you there?');
    const { body } = await author.get<{ unReadCount: number }[]>('/chatroom');
    expect(body[0]?.unReadCount).to.be.greaterThan(0);
  });

  it('carries out a join and a leave in the order they were sent', async () => {
    // Joins of a room take turns, the leave sent behind them did not wait for its own: the member ended up
    // present in a room they had left.
    const client = await connect(room.author);
    const { chatNo } = room;
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([client.join(chatNo), client.join(chatNo), client.ask('room:leave', { chatNo })]);
      expect(await present(), `round ${round}`).to.deep.equal([room.asker.no]);
    }
  });

  it('keeps no timer of a token that was refreshed by a connection that is gone', async () => {
    const { domain } = await service();
    const client = await connect(room.author);
    const { authenticate } = domain.members;
    const { open: letGo, opened: held } = gate();
    domain.members.authenticate = async (token) => {
      await held;
      return authenticate(token);
    };
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    try {
      client.socket.emit('auth:refresh', { token: room.author.token });
      await watcher.join(room.chatNo);
      client.socket.disconnect();
      await eventually(async () => expect(await present()).to.deep.equal([room.asker.no]));
      const before = timers();
      letGo();
      await watcher.join(room.chatNo);
      await watcher.join(room.chatNo);
      expect(timers()).to.be.at.most(before);
    } finally {
      domain.members.authenticate = authenticate;
      letGo();
    }
  });
});
