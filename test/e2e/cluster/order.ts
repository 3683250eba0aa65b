import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { MessagePayload as Message } from '../../../domain/kernel/live.js';
import { redisChannels } from '../../../domain/kernel/redis-keys.js';
import { unreadOf } from '../../support/chat.js';
import type { Cluster } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { metric } from '../../support/rest.js';
import { connect, nextPresence } from '../../support/sockets.js';
import type { ChatClient } from './chat-client.js';
import { useChatClients } from './load.js';

/** Records what the gateways publish to each other, so that a test can publish it again. */
async function listenTo(url: string) {
  const subscriber = new Redis(url);
  const publisher = new Redis(url);
  const messages: { channel: Buffer; message: Buffer; text: string }[] = [];
  subscriber.on('pmessageBuffer', (_pattern: Buffer, channel: Buffer, message: Buffer) =>
    messages.push({ channel, message, text: message.toString('latin1') }),
  );
  await subscriber.psubscribe(`${redisChannels.sockets}*`);
  return {
    messages,
    async repeat(one: (typeof messages)[number] | undefined) {
      if (!one) throw new Error('nothing was published');
      await publisher.publish(one.channel, one.message);
    },
    close: () => Promise.all([subscriber.quit(), publisher.quit()]),
  };
}

/** Messages that each of two members sends in the race for numbers. */
const EACH = Number(process.env.RACE_EACH ?? 500);

/** Order, repeats and read state in a cluster of at least two http processes and two gateways. */
export function itKeepsOrder(given: () => Cluster): void {
  describe('order, repeats and read state', () => {
    let cluster: Cluster;
    const clients = useChatClients();
    let published: Awaited<ReturnType<typeof listenTo>> | undefined;

    before(() => {
      cluster = given();
    });
    afterEach(async () => {
      await published?.close();
      published = undefined;
    });

    const gateway = (i: number) => cluster.gateways[i] as string;

    const client = (name: string, who: ChatClient['who'], on: number) =>
      clients.open(name, who, () => gateway(on));

    it('14: stores one message for a client key sent in parallel on two gateways, and again after a restart', async () => {
      const room = await cluster.openRoom();
      const { chatNo, asker } = room;
      const watcher = await client('author', room.author, 1).enter(chatNo);
      const [one, two] = await Promise.all([connect(asker, {}, gateway(0)), connect(asker, {}, gateway(1))]);
      const request = { chatNo, contentType: 'text', content: 'once', clientId: 'k' };
      clients.checker.asked(chatNo, 'once');
      const answers = await Promise.all(
        [one, two, one, two, one].map((c) => c.ask<{ message: Message }>('message:send', request)),
      );
      await cluster.kill('gateway-0');
      await cluster.restart('gateway-0');
      const again = await connect(asker, {}, gateway(0));
      answers.push(await again.ask<{ message: Message }>('message:send', request));
      for (const { status, message } of answers) {
        expect(status).to.equal(200);
        clients.checker.acked('once', message);
      }
      await clients.checker.verify(room, gateway(0));
      expect(watcher.messages).to.have.length(1);
    });

    it(`17: numbers ${EACH} messages of each of two members on two gateways without gaps, in one order for both`, async () => {
      const room = await cluster.openRoom();
      const [author, asker] = [client('author', room.author, 0), client('asker', room.asker, 1)];
      await Promise.all([author.enter(room.chatNo), asker.enter(room.chatNo)]);
      const start = performance.now();
      await Promise.all(
        [author, asker].map(async (one) => {
          // Twenty at a time: more than people would send.
          let left = EACH;
          await Promise.all(
            Array.from({ length: 20 }, async () => {
              while (left > 0) {
                left -= 1;
                await one.send(room.chatNo);
              }
            }),
          );
        }),
      );
      process.stdout.write(`      ${2 * EACH} messages in ${Math.round(performance.now() - start)} ms\n`);
      const truth = await clients.checker.verify(room, gateway(0));
      expect(truth).to.have.length(2 * EACH);
    });

    it('18: answers a broadcast that several receivers post back, to either http process, with the stored message', async () => {
      const room = await cluster.openRoom();
      const { author, asker, chatNo } = room;
      const listener = await connect(author, {}, gateway(1));
      await listener.join(chatNo);
      const sender = await connect(asker, {}, gateway(0));
      clients.checker.asked(chatNo, 'to be echoed');
      const { message } = await sender.send<{ message: Message }>(chatNo, 'to be echoed');
      clients.checker.acked('to be echoed', message);
      const broadcast = await listener.next<Message>('message');
      const forms = [
        broadcast,
        { ...broadcast, senderEmail: author.email },
        { ...broadcast, sendTime: String(broadcast.sendTime) },
        { ...broadcast, sendTime: null },
        { ...broadcast, content: 'forged' },
      ];
      const { seq: _, ...stored } = broadcast;
      const replies = await Promise.all(
        forms.flatMap((form) =>
          cluster.http.map((base) =>
            author.call<Message>('/chatroom/notification', { method: 'POST', json: form }, base),
          ),
        ),
      );
      for (const { status, body } of replies) {
        expect(status).to.equal(200);
        expect(body).to.deep.equal(stored);
      }
      const forged = await author.post('/chatroom/notification', { ...broadcast, chatNo: 999_999 });
      expect(forged.status).to.equal(404);
      await clients.checker.verify(room, gateway(0));
      const { body: told } = await author.get<unknown[]>('/notification/all');
      expect(told, 'both were present: no notification').to.deep.equal([]);
    });

    it('19: moves a read position only forward, whichever device and gateway it comes from', async () => {
      const room = await cluster.openRoom();
      const { author, asker, chatNo } = room;
      const sender = client('asker', asker, 0);
      const senderView = await sender.enter(chatNo);
      for (let i = 0; i < 10; i += 1) await sender.send(chatNo);
      const [phone, laptop] = await Promise.all([
        connect(author, {}, gateway(0)),
        connect(author, {}, gateway(1)),
      ]);
      const socket = await sender.socket();
      const told: number[] = [];
      socket.on('message:read', ({ memberNo, seq }: { memberNo: number; seq: number }) => {
        if (memberNo === author.no) told.push(seq);
      });
      await Promise.all([
        phone.ask('message:read', { chatNo, seq: 3 }),
        laptop.ask('message:read', { chatNo, seq: 7 }),
        phone.ask('message:read', { chatNo, seq: 5 }),
        laptop.ask('message:read', { chatNo, seq: 1 }),
      ]);
      await clients.checker.verify(room, gateway(1), { [author.no]: 7 });
      const unread = async () => {
        const { body } = await asker.get<{ chatList: { readCount: number }[] }>(`/chatroom/${chatNo}`);
        return body.chatList.filter(({ readCount }) => readCount > 0).length;
      };
      // The check above joined as the author, which reads everything.
      expect(await unread()).to.equal(0);
      await laptop.ask('message:read', { chatNo, seq: 999 });
      await phone.ask('message:read', { chatNo, seq: 2 });
      expect(await unread(), 'never rises again').to.equal(0);
      await eventually(() => expect(told.at(-1)).to.equal(10));
      expect(told, 'rises only').to.deep.equal([...told].sort((a, b) => a - b));
      expect(senderView.faults).to.deep.equal([]);
    });

    it('20: gives both devices the same unread counts after one has read', async () => {
      const rooms = [await cluster.openRoom(), await cluster.openRoom()];
      const [first, second] = rooms as [(typeof rooms)[0], (typeof rooms)[0]];
      const sender = client('asker', first.asker, 0);
      const phone = client('phone', first.author, 0);
      await phone.socket();
      for (let i = 0; i < 5; i += 1) await sender.send(first.chatNo);
      const counts = async (base: string) =>
        (await first.author.call<{ chatNo: number; unReadCount: number }[]>('/chatroom', {}, base)).body.map(
          ({ chatNo, unReadCount }) => [chatNo, unReadCount],
        );
      for (const base of cluster.http) expect(await counts(base)).to.deep.equal([[first.chatNo, 5]]);
      (await phone.socket()).disconnect();
      const laptop = client('laptop', first.author, 1);
      await (await laptop.socket()).emitWithAck('message:read', { chatNo: first.chatNo, seq: 3 });
      for (const base of cluster.http) expect(await counts(base)).to.deep.equal([[first.chatNo, 2]]);
      // The `room` events of both devices lead to what REST answers.
      await eventually(async () => {
        const { body } = await first.author.get<object[]>('/chatroom');
        for (const device of [phone, laptop]) expect([...device.list.values()]).to.deep.equal(body);
      });
      expect(second.chatNo).to.not.equal(first.chatNo);
    });

    it('12: closes a client that stops reading, with flat memory, and delivers every message once it has reconnected', async () => {
      const room = await cluster.openRoom();
      const { chatNo } = room;
      const reader = client('author', room.author, 1);
      await reader.enter(chatNo);
      const sender = client('asker', room.asker, 0);
      const memory = async () => (await metric(gateway(1), 'process_resident_memory_bytes')) / 2 ** 20;
      const before = await memory();
      const { engine } = (await reader.socket()).io;
      const line = (engine.transport as unknown as { ws: { _socket: { pause(): void; resume(): void } } }).ws
        ._socket;
      line.pause();
      // The system buffers some megabytes before the service notices.
      const text = '가'.repeat(4_900);
      let sent = 0;
      const closed = async () => (await metric(gateway(1), 'adoption_sockets_open')) === 0;
      while (!(await closed()) && sent < 1_500) {
        await Promise.all(
          Array.from({ length: 50 }, () => {
            sent += 1;
            return sender.send(chatNo, `${sent} ${text}`);
          }),
        );
      }
      process.stdout.write(
        `      closed after ${sent} messages of 15 kB, ${Math.round((await memory()) - before)} MB more\n`,
      );
      expect(await closed()).to.equal(true);
      line.resume();
      await clients.checker.verify(room, gateway(0));
      expect(reader.losses).to.have.length(1);
    });

    it('drops a presence change that arrives after a later one, from whichever gateway', async () => {
      // A leave on one gateway arrived after a join on another one: a present member was shown as absent.
      const { author, asker, chatNo } = await cluster.openRoom();
      const watcher = await connect(asker, {}, gateway(1));
      await watcher.join(chatNo);
      const told: unknown[][] = [];
      watcher.socket.on('presence', (...event) => {
        if (event[0].memberNo === author.no) told.push(event);
      });
      const change = (present: boolean) => [{ chatNo, memberNo: author.no, present }];
      const [phone, laptop] = [await connect(author, {}, gateway(0)), await connect(author, {}, gateway(1))];
      published = await listenTo(cluster.redis.url);
      await phone.join(chatNo);
      await phone.ask('room:leave', { chatNo });
      await eventually(() => expect(told).to.deep.equal([change(true), change(false)]));
      const late = published.messages.filter(({ text }) => /presence.*chatNo/s.test(text)).at(-1);
      await laptop.join(chatNo);
      await published.repeat(late);
      // A message published after it arrives after it.
      await phone.send(chatNo, 'after it');
      await watcher.next('message');
      await laptop.ask('room:leave', { chatNo });
      await watcher.join(chatNo);
      expect(told).to.deep.equal([true, false, true, false].map(change));
    });

    it('removes the devices of a member from a room on every gateway by one REST call', async () => {
      const { author, asker, chatNo } = await cluster.openRoom();
      const watcher = await connect(asker, {}, gateway(0));
      await watcher.join(chatNo);
      const devices = await Promise.all([connect(author, {}, gateway(0)), connect(author, {}, gateway(1))]);
      for (const device of devices) await device.join(chatNo);
      const gone = nextPresence(watcher, false, author.no);
      const answer = await author.post(`/chatroom/${chatNo}`, { email: author.email });
      expect(answer).to.deep.include({ status: 200, body: { status: 200 } });
      await gone;
      // None of the devices is in the room any more: messages are unread, and none of them receives one.
      await eventually(async () => {
        const before = (await unreadOf(author)) ?? 0;
        await watcher.send(chatNo, 'still there?');
        expect(await unreadOf(author)).to.equal(before + 1);
      });
      const heard = devices.map((device) => device.heard('message').length);
      await watcher.send(chatNo, 'and now?');
      await watcher.next('message', (message: Message) => message.content === 'and now?');
      expect(devices.map((device) => device.heard('message').length)).to.deep.equal(heard);
      expect(await watcher.join(chatNo)).to.deep.include({ present: [asker.no] });
    });
  });
}
