import { randomUUID } from 'node:crypto';
import { type Collection, MongoClient } from 'mongodb';

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

/** Most documents in one insert, and inserts on their way at once: as the service has them. */
const MAX_GROUP = 500;
const MAX_IN_FLIGHT = 2;

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

/**
 * Stores documents by grouped insertMany and nothing else.
 * @returns a function that takes a document and what to do once it is stored
 */
export function createGroupedStore(messages: Collection<StoredMessage>) {
  let waiting: { record: StoredMessage; done: () => void }[] = [];
  let inFlight = 0;
  let scheduled = false;

  function flush(): void {
    scheduled = false;
    while (waiting.length > 0 && inFlight < MAX_IN_FLIGHT) {
      const group = waiting.slice(0, MAX_GROUP);
      waiting = waiting.slice(MAX_GROUP);
      inFlight += 1;
      void messages
        .insertMany(
          group.map(({ record }) => record),
          { ordered: false },
        )
        .then(() => {
          inFlight -= 1;
          for (const { done } of group) done();
          schedule();
        });
    }
  }

  function schedule(): void {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(flush);
  }

  return (record: StoredMessage, done: () => void): void => {
    waiting.push({ record, done });
    schedule();
  };
}
