import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import { createChatState } from '../../../domain/chat/index.js';
import { Message } from '../../../domain/chat/message.model.js';
import { Room } from '../../../domain/chat/room.model.js';
import { createEventBus } from '../../../domain/kernel/events.js';
import { unlimitedQuotas } from '../../../domain/platform/rate-limits/index.js';
import { anotherChat, contentsOf, type OpenedRoom, openRoom, storeMessages } from '../../support/chat.js';
import { beforeInserts, interceptCalls, meanwhile } from '../../support/database-calls.js';
import { gate, nextTurn } from '../../support/eventually.js';
import { CREATOR, expectUnavailable, FakeMessages, outcomes } from './fake-messages.js';
import { recording } from './recording.js';

describe('the ledger of a process that stops', () => {
  let db: FakeMessages;
  beforeEach(() => {
    db = new FakeMessages();
  });
  afterEach(() => db.end());

  it('is closed when the sends under way are stored, and refuses later ones', async () => {
    const { open, opened } = gate();
    db.before = () => opened;
    const told: string[] = [];
    const tell = (text: string) => () => void told.push(text);
    const first = db.send(1).then(tell('first'));
    await nextTurn(10);
    const second = db.send(1).then(tell('second'));
    const closed = db.ledger.close().then(tell('closed'));
    const later = outcomes([db.send(1), db.send(2)]);
    await nextTurn(10);
    expect(told).deep.equal([]);
    open();
    await Promise.all([first, second, closed]);
    expect(told).deep.equal(['first', 'second', 'closed']);
    for (const refused of await later) expectUnavailable(refused);
    expect([1, 2].map((chatNo) => db.held(chatNo).length)).deep.equal([2, 0]);
  });

  it('is closed when the read positions under way are stored, and refuses later ones', async () => {
    await db.send(1);
    const known = await db.states.get(1);
    const { open, opened } = gate();
    const { updateOne } = Room;
    let [writes, isClosed] = [0, false];
    Room.updateOne = (() => {
      writes += 1;
      return opened;
    }) as never;
    try {
      const moving = db.ledger.markRead(known, 'creator', 1);
      const closed = db.ledger.close().then(() => {
        isClosed = true;
      });
      const later = db.ledger.markRead(known, 'joiner', 1).catch((error: unknown) => error);
      await nextTurn(10);
      expect([writes, isClosed]).deep.equal([1, false]);
      open();
      expect(await moving).include({ memberNo: CREATOR, seq: 1 });
      await closed;
      expectUnavailable(await later);
    } finally {
      Room.updateOne = updateOne;
    }
  });
});

describe('the chat of a process that stops', () => {
  let room: OpenedRoom;
  beforeEach(async () => {
    room = await openRoom();
  });

  it('stops once pending sends are stored and announced', async () => {
    const { asker, author, chatNo } = room;
    const events = createEventBus();
    const order: string[] = [];
    events.on('message.unannounced', async ({ recipientNo }) => {
      await nextTurn();
      order.push(`${recipientNo === author.no ? 'author' : recipientNo} notified`);
    });
    const chat = await anotherChat({ events });
    const { open: release, opened: held } = gate();
    const { open: reached, opened: underWay } = gate();
    await beforeInserts(
      Message,
      () => {
        reached();
        return held;
      },
      async () => {
        const sent = chat
          .sendMessage(asker.actor, { chatNo, contentType: 'text', content: 'on its way' })
          .then(() => order.push('sent'));
        await underWay;
        const closed = chat.close().then(() => order.push('closed'));
        await author.get('/healthz');
        release();
        await Promise.all([sent, closed]);
      },
    );
    expect(order).to.deep.equal(['sent', 'author notified', 'closed']);
  });

  it('stores nothing of a send that comes to the ledger after its stop', async () => {
    const { asker, chatNo } = room;
    const { messages, live } = recording();
    const { open: answer, opened: answered } = gate();
    const { open: ask, opened: asked } = gate();
    const quotas: typeof unlimitedQuotas = {
      // A slow Redis.
      async take(...what) {
        ask();
        await answered;
        return unlimitedQuotas.take(...what);
      },
    };
    const chat = await anotherChat({ live, quotas });
    const text = { chatNo, contentType: 'text', content: 'too late' } as const;
    const sent = chat.sendMessage(asker.actor, text).catch((error: unknown) => error);
    await asked;
    await chat.close();
    answer();
    expect(await sent).to.include({ code: 'SERVICE_UNAVAILABLE' });
    expect([messages, await contentsOf(asker, chatNo)]).to.deep.equal([[], []]);
  });

  it('publishes a read position that is being stored when it stops, to the reader’s lists, too', async () => {
    const { asker, author, chatNo } = room;
    await storeMessages(chatNo, asker.no, 1);
    const { reads, rooms, live } = recording();
    const chat = await anotherChat({ live, ...createChatState(live), shared: true });
    await chat.requireParticipant(author.actor, chatNo);
    let closed: Promise<void> | undefined;
    const close = () => {
      closed = chat.close();
    };
    await meanwhile('before', [Room, 'updateOne'], close, () => chat.markRead(author.actor, chatNo, 1));
    await closed;
    expect(reads).to.deep.equal([[author.no, 1]]);
    expect(rooms).to.deep.equal([[author.no, { seq: 1, read: 1 }]]);
  });

  it('is not settled when it stops before it could publish what the database may have stored', async () => {
    const { asker, chatNo } = room;
    const { messages, live } = recording();
    const chat = await anotherChat({ live, ...createChatState(live), shared: true });
    await chat.requireParticipant(asker.actor, chatNo);
    expect(chat.isSettled()).to.equal(true);
    const failure = new MongoNetworkTimeoutError('the answer did not come in time');
    // Neither the answer to the insert arrives nor those to reads, as during a failover.
    const restore = interceptCalls([Message, Room], async (_model, call, run) => {
      if (call === 'insertMany') await run();
      throw failure;
    });
    const input = { chatNo, contentType: 'text', content: 'stored' } as const;
    const outcome = await chat.sendMessage(asker.actor, input).catch((error: unknown) => error);
    await chat.close();
    restore();
    expect([outcome, messages]).to.deep.equal([failure, []]);
    expect(chat.isSettled()).to.equal(false);
    expect(await contentsOf(asker, chatNo)).to.deep.equal(['stored']);
  });
});
