import { expect } from 'chai';
import { Message } from '../../../domain/chat/message.model.js';
import { Room } from '../../../domain/chat/room.model.js';
import type { Actor } from '../../../domain/kernel/actor.js';
import { type Member, member } from '../../support/api.js';
import { adoptionPost, anotherChat, openChat } from '../../support/chat.js';

const HOUR_MS = 3_600_000;

describe('the list of a member’s rooms', () => {
  let author: Member;
  let asker: Member;
  let rooms: number[];
  beforeEach(async () => {
    [author, asker] = [await member(), await member()];
    rooms = [];
    for (let i = 0; i < 3; i += 1) rooms.push(await openChat(asker, await adoptionPost(author), author.no));
  });

  /** Sends from a process whose wall clock is that much ahead. */
  async function sendAt(aheadMs: number, chatNo: number, sender: Actor = asker.actor): Promise<void> {
    const chat = await anotherChat({ clock: { now: () => Date.now() + aheadMs } });
    await chat.sendMessage(sender, { chatNo, contentType: 'text', content: 'hello' });
    await chat.close();
  }

  const listed = async () => {
    const { body } = await asker.get<{ chatNo: number }[]>('/chatroom');
    return body.map(({ chatNo }) => chatNo);
  };

  it('48: has the latest activity first, whatever the wall clock of the process that stored it', async () => {
    const [a, b, c] = rooms as [number, number, number];
    expect(await listed()).to.deep.equal([c, b, a]);
    await sendAt(-HOUR_MS, a);
    expect(await listed()).to.deep.equal([a, c, b]);
    await sendAt(HOUR_MS, b, author.actor);
    expect(await listed()).to.deep.equal([b, a, c]);
    await sendAt(0, a);
    expect(await listed()).to.deep.equal([a, b, c]);
    const d = await openChat(asker, await adoptionPost(author), author.no);
    expect(await listed()).to.deep.equal([d, a, b, c]);
  });

  it('has data of earlier releases in the order of their times, before what is stored since', async () => {
    const [a, b, c] = rooms as [number, number, number];
    for (const chatNo of [a, b]) await sendAt(0, chatNo);
    await Message.updateMany({ chatNo: { $in: [a, b] } }, { $unset: { activity: 1 } });
    await Room.updateMany({ _id: { $in: rooms } }, { $unset: { activity: 1 } });
    expect(await listed()).to.deep.equal([b, a, c]);
    await sendAt(-HOUR_MS, c);
    expect(await listed()).to.deep.equal([c, b, a]);
  });
});
