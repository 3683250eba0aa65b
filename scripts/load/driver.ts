import { type Collection, MongoClient } from 'mongodb';
import type { MessageRecord } from '../../domain/chat/message.model.js';

/** A bare driver with the service's write concern. */
export function openDriver(uri: string): Promise<MongoClient> {
  const writeConcern = { w: 'majority', journal: true } as const;
  return new MongoClient(uri, { writeConcern, maxPoolSize: 20 }).connect();
}

export async function openMessages(uri: string): Promise<Collection<MessageRecord>> {
  return (await openDriver(uri)).db().collection<MessageRecord>('messages');
}
