import { randomUUID } from 'node:crypto';
import { type Collection, MongoClient } from 'mongodb';
import { Batcher } from '../../../domain/platform/batcher.js';

/** A message as the service stores it. */
export interface StoredMessage {
  _id: string;
  chatNo: number;
  seq: number;
  senderNo: number;
  contentType: string;
  content: string;
  sentAt: Date;
  sent: { creator: number; joiner: number };
  read: { creator: { seq: number; others: number }; joiner: { seq: number; others: number } };
  clientKey: string;
}

/** The collection of messages, acknowledged as the service's are. */
export async function openMessages(uri: string): Promise<Collection<StoredMessage>> {
  const client = new MongoClient(uri, { writeConcern: { w: 'majority', journal: true }, maxPoolSize: 20 });
  await client.connect();
  return client.db().collection<StoredMessage>('messages');
}

/** A document of the service's shape. */
export function storedMessage(chatNo: number, seq: number, content: string, clientId: string): StoredMessage {
  return {
    _id: randomUUID(),
    chatNo,
    seq,
    senderNo: 1,
    contentType: 'text',
    content,
    sentAt: new Date(),
    sent: { creator: seq, joiner: 0 },
    read: { creator: { seq, others: 0 }, joiner: { seq, others: seq } },
    clientKey: `socket:${clientId}`,
  };
}

/** Stores documents by grouped insertMany and nothing else, limited as the service's inserts are. */
export function createGroupedStore(messages: Collection<StoredMessage>): Batcher<StoredMessage, void> {
  return new Batcher<StoredMessage, void>(
    async (records) => {
      await messages.insertMany(records, { ordered: false });
      return [];
    },
    { size: 500, concurrency: 2 },
  );
}
