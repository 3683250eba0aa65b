import { expect } from 'chai';
import { type OpenedRoom, openRoom, unreadOf } from '../../support/chat.js';
import { eventually, gate, nextTurn } from '../../support/eventually.js';
import { service } from '../../support/service.js';
import { type Client, connect } from '../../support/sockets.js';

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

  it('leaves nobody present whose client disconnects while it joins', async () => {
    // The join waited for a send of the room while its connection closed; the closed connection became present,
    // and nothing ever ended that: every later message counted as read.
    const { author, chatNo } = room;
    for (let round = 0; round < 20; round += 1) {
      const client = await connect(author);
      for (let i = 0; i < 3; i += 1) {
        watcher.socket.emit('message:send', { chatNo, contentType: 'text', content: 'busy' });
      }
      client.socket.emit('room:join', { chatNo });
      // The packet is sent before the transport closes.
      await nextTurn();
      client.socket.io.engine.close();
    }
    await eventually(async () => expect(await present()).to.deep.equal([room.asker.no]));
    await watcher.send(chatNo, 'are you there?');
    expect(await unreadOf(author)).to.be.greaterThan(0);
  });

  it('handles a join and a leave in the order they were sent', async () => {
    // Joins of a room run one after another, and a leave sent after them did not wait: the member ended up
    // present in a room they had left.
    const client = await connect(room.author);
    const { chatNo } = room;
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([client.join(chatNo), client.join(chatNo), client.ask('room:leave', { chatNo })]);
      expect(await present(), `round ${round}`).to.deep.equal([room.asker.no]);
    }
  });

  it('keeps no timer for the new token of a connection that has closed', async () => {
    const { domain } = await service();
    const client = await connect(room.author);
    const { authenticate } = domain.members;
    const { open: release, opened: released } = gate();
    domain.members.authenticate = async (token) => {
      await released;
      return authenticate(token);
    };
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    try {
      client.socket.emit('auth:refresh', { token: room.author.token });
      await watcher.join(room.chatNo);
      client.socket.disconnect();
      await eventually(async () => expect(await present()).to.deep.equal([room.asker.no]));
      const before = timers();
      release();
      await watcher.join(room.chatNo);
      await watcher.join(room.chatNo);
      expect(timers()).to.be.at.most(before);
    } finally {
      domain.members.authenticate = authenticate;
      release();
    }
  });
});
