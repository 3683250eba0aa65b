import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dump, restore } from 'embedded-mongo/dump';
import mongoose from 'mongoose';
import type { MessagePayload, NotificationView } from '../../../domain/kernel/live.js';
import { SCHEMA_COLLECTION } from '../../../domain/platform/mongo/schema-version.js';
import { aboutVersion } from '../../../scripts/db/restored-data.js';
import { contentsOf, type OpenedRoom, openRoom, pushTo } from '../../support/chat.js';
import { notify, notifyOf } from '../../support/notifications.js';
import { service } from '../../support/service.js';
import { type Client, connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';

interface Joined {
  messages: MessagePayload[];
  from: string;
  more: boolean;
  seq: number;
}

const numbers = (messages: MessagePayload[]) => messages.map(({ seq }) => seq);
const database = () => mongoose.connection.getClient().db();

describe('a database that becomes an older copy while the service runs', () => {
  let folder: string;
  let room: OpenedRoom;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-restore-'));
    room = await openRoom();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function send(from: number, to: number): Promise<MessagePayload[]> {
    const sent: MessagePayload[] = [];
    for (let i = from; i <= to; i += 1)
      sent.push((await pushTo<MessagePayload>(room, room.asker, `${i}`)).body);
    return sent;
  }

  const disconnected = ({ socket }: Client) =>
    new Promise<string>((resolve) => {
      socket.once('disconnect', resolve);
    });

  async function restoreOlder(): Promise<void> {
    const { mongoUri } = await service();
    for (const { name } of await database().listCollections().toArray())
      await database().dropCollection(name);
    await restore(mongoUri, join(folder, 'dump'), aboutVersion);
  }

  it('53: is noticed: clients come back and are shown what it holds, and all that follows', async () => {
    const { author, chatNo } = room;
    await send(1, 3);
    await notify(author, 'before the dump');
    await dump((await service()).mongoUri, join(folder, 'dump'));

    const before = await connect(author);
    await before.join(chatNo, 3);
    await send(4, 8);
    await before.next<MessagePayload>('message', ({ seq }) => seq === 8);
    for (let i = 0; i < 8; i += 1) await notify(author, `lost ${i}`);
    const stream = await openStream(author);
    const { id: lastEventId } = await stream.next();
    const closed = disconnected(before);
    await restoreOlder();
    expect(await closed).to.equal('transport close');
    await stream.ended;
    expect(stream.comments).to.include('restore');

    expect(await contentsOf(author, chatNo)).to.deep.equal(['1', '2', '3']);
    await send(4, 7);
    const after = await connect(author);
    const joined = await after.join<Joined>(chatNo, 8);
    expect(joined).to.include({ status: 200, from: 'newest', more: false, seq: 7 });
    expect(numbers(joined.messages)).to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
    await send(8, 8);
    await after.next<MessagePayload>('message', ({ seq, content }) => seq === 8 && content === '8');
    const gone = disconnected(after);
    after.socket.disconnect();
    await gone;

    const resumed = await openStream(author, { lastEventId });
    const [, last] = /_(\d+)$/.exec(lastEventId ?? '') ?? [];
    const first = await resumed.next();
    expect(first.id, `instead of ${last}`).to.equal(`${author.no}_0`);
    await resumed.next(({ data }) => data.includes('before the dump'));
    const socket = await connect(author);
    await notifyOf(author, 'after the restore');
    await resumed.next(({ data }) => data.includes('after the restore'));
    await socket.next<NotificationView>('notification', ({ content }) => content === 'after the restore');
  });

  it('53: is noticed by its numbers, whatever restored it', async () => {
    const client = await connect(room.author);
    const closed = disconnected(client);
    await database()
      .collection<{ _id: string }>(SCHEMA_COLLECTION)
      .updateOne({ _id: 'schema' }, { $set: { activity: 1 } });
    expect(await closed).to.equal('transport close');
  });

  it('53: is told apart by the message that a client has, once numbers have passed its own', async () => {
    const { author, chatNo } = room;
    const sent = await send(1, 4);
    const client = await connect(author);
    const join = (after: number, afterId?: string) =>
      client.ask<Joined>('room:join', { chatNo, after, afterId });
    for (const had of [2, 4]) {
      const same = await join(had, sent[had - 1]?.id);
      expect([same.from, numbers(same.messages)]).to.deep.equal(['after', [3, 4].slice(had - 2)]);
      const other = await join(had, 'of-before-the-restore');
      expect([other.from, numbers(other.messages)]).to.deep.equal(['newest', [1, 2, 3, 4]]);
    }
    const unnamed = await join(4);
    expect([unnamed.from, unnamed.messages]).to.deep.equal(['after', []]);
    const nothing = await join(0, 'no message has this number');
    expect([nothing.from, numbers(nothing.messages)]).to.deep.equal(['after', [1, 2, 3, 4]]);
  });
});
