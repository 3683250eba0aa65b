import { expect } from 'chai';
import { type Member, member } from '../support/api.js';
import { openRoom, unreadOf } from '../support/chat.js';
import { eventually, gate } from '../support/eventually.js';
import { notifyOf } from '../support/notifications.js';
import { type RawSocket, rawSocket } from '../support/raw-socket.js';
import { service } from '../support/service.js';
import { type Client, connect, nextPresence, openSockets } from '../support/sockets.js';

const connectPacket = (token: string) => `40${JSON.stringify({ token })}`;

/** The events that a WebSocket has received. */
const eventsOf = ({ heard }: RawSocket) => heard.filter((text) => text.startsWith('42'));

/** A WebSocket that has connected to the namespace with a member's token. */
async function entered(token: string): Promise<RawSocket> {
  const raw = await rawSocket((await service()).gateway);
  raw.send(connectPacket(token));
  await raw.next(/^40\{"sid"/);
  return raw;
}

/** Long-polling without a client library. */
async function polling() {
  const { gateway } = await service();
  const base = `${gateway}/socket.io/?EIO=4&transport=polling`;
  const opened = await (await fetch(base)).text();
  const { sid } = JSON.parse(opened.slice(1)) as { sid: string };
  return {
    send: (body: string) => fetch(`${base}&sid=${sid}`, { method: 'POST', body }),
    poll: async () => {
      const answer = await fetch(`${base}&sid=${sid}`);
      return { status: answer.status, text: await answer.text() };
    },
  };
}

describe('a connection to the namespace', () => {
  let me: Member;
  let witness: Client;

  beforeEach(async () => {
    me = await member();
    witness = await connect(me);
  });

  /** Notifies the member, and waits for the event: all events published before have arrived then. */
  async function told(content: string): Promise<void> {
    await notifyOf(me, content);
    await witness.next<{ content: string }>('notification', (one) => one.content === content);
  }

  it('closes the WebSocket when the client leaves the namespace, and sends nothing more', async () => {
    // The WebSocket stayed open and subscribed: it received the member's private events for as long as it lived,
    // also after the token had expired and beyond the limit of connections.
    const raw = await entered(me.token);
    raw.send('41');
    await Promise.race([raw.closed, told('after it was left')]);
    await raw.closed;
    expect(eventsOf(raw)).to.deep.equal([]);
  });

  it('ends presence in every room when the client leaves the namespace', async () => {
    const { author, asker, chatNo } = await openRoom();
    const peer = await connect(asker);
    await peer.join(chatNo);
    const raw = await entered(author.token);
    raw.send(`421["room:join",{"chatNo":${chatNo}}]`);
    await nextPresence(peer, true, author.no);
    raw.send('41');
    await raw.closed;
    await nextPresence(peer, false);
    await peer.send(chatNo, 'still there?');
    expect(await unreadOf(author)).to.equal(1);
  });

  it('refuses another member on a WebSocket that has left the namespace', async () => {
    const other = await member();
    const raw = await entered(me.token);
    raw.send('41');
    raw.send(connectPacket(other.token));
    await Promise.race([
      raw.closed,
      eventually(() =>
        expect(raw.heard.filter((text) => text.startsWith('40{"sid"'))).to.have.length(2),
      ).then(() => told('for the former member alone')),
    ]);
    await raw.closed;
    expect(eventsOf(raw)).to.deep.equal([]);
  });

  it('closes long-polling when the client leaves the namespace', async () => {
    const { send, poll } = await polling();
    await send(connectPacket(me.token));
    await eventually(async () => expect((await poll()).text).to.include('40{"sid"'));
    await send('41');
    // Packet 1 closes; a session that has ended is refused.
    const first = await poll();
    expect(first.status).to.equal(200);
    expect(first.text.split('\x1e').at(-1)).to.equal('1');
    expect((await poll()).status).to.equal(400);
    expect((await send('42["typing",{}]')).status).to.equal(400);
  });

  it('ignores what a client sends after leaving the namespace', async () => {
    const { author, asker, chatNo } = await openRoom();
    const { send, poll } = await polling();
    await send(connectPacket(author.token));
    await eventually(async () => expect((await poll()).text).to.include('40{"sid"'));
    const message = { chatNo, contentType: 'text', content: 'left already' };
    await send(`41\x1e42${JSON.stringify(['message:send', message])}`);
    const peer = await connect(asker);
    const sent = await peer.ask<{ message: object }>('message:send', { ...message, content: 'alone' });
    expect(sent.message).to.include({ seq: 1 });
  });

  describe('with a second connect packet before the first is answered', () => {
    // Both were accepted: two members, or one several times, on one connection.
    let before: number;
    let connects: string[];
    let asked: number;
    let admit: () => void;
    let restore = () => {};

    beforeEach(async () => {
      connects = [me, await member()].map(({ token }) => connectPacket(token));
      before = await openSockets();
      const { members } = (await service()).domain;
      const { authenticate } = members;
      const { open, opened: admitted } = gate();
      admit = open;
      asked = 0;
      members.authenticate = async (token) => {
        asked += 1;
        await admitted;
        return authenticate(token);
      };
      restore = () => {
        members.authenticate = authenticate;
      };
    });
    afterEach(() => restore());

    it('closes a WebSocket', async () => {
      const raw = await rawSocket((await service()).gateway);
      for (const packet of connects) raw.send(packet);
      await Promise.race([raw.closed, eventually(() => expect(asked).to.equal(2))]);
      admit();
      await raw.closed;
      restore();
      await told('to nobody on it');
      expect(raw.heard.filter((text) => text.startsWith('4'))).to.deep.equal([]);
      expect(await openSockets()).to.equal(before);
    });

    it('closes long-polling', async () => {
      const { send, poll } = await polling();
      await send(connects.join('\x1e'));
      admit();
      expect((await poll()).text.split('\x1e').at(-1)).to.equal('1');
      expect((await poll()).status).to.equal(400);
      expect(await openSockets()).to.equal(before);
    });
  });

  it('accepts a token after a refused one, and then delivers only that member’s events', async () => {
    const raw = await rawSocket((await service()).gateway);
    raw.send(connectPacket('nonsense'));
    await raw.next(/^44.*UNAUTHORIZED/);
    raw.send(connectPacket((await member()).token));
    await raw.next(/^40\{"sid"/);
    await told('for another member');
    expect(eventsOf(raw)).to.deep.equal([]);
    raw.socket.destroy();
    await raw.closed;
  });

  it('closes the WebSocket of a client whose token has expired, although the client does not answer', async () => {
    const { token } = await service();
    const raw = await entered(await token(me.email, { ttl: '2s' }));
    await raw.closed;
    await told('after the token has expired');
    const names = raw.heard.flatMap((text) => /^\d+(?:\["[a-z:]+)?/.exec(text)?.[0] ?? []);
    expect(names).to.deep.equal(['0', '40', '42["auth:expiring', '42["closing', '41']);
  });
});
