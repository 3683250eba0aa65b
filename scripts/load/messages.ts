import { randomUUID } from 'node:crypto';
import { type Collection, MongoClient } from 'mongodb';
import type { MessageRecord } from '../../domain/chat/message.model.js';
import type { MessagePayload, NotificationView } from '../../domain/kernel/live.js';

/** What peers and limits store and send: the service's records and payloads, so that all send the same bytes. */

export function messagePayload(chatNo: number, content: string, seq: number): MessagePayload {
  return {
    id: `019a0000-0000-7000-8000-${String(seq).padStart(12, '0')}`,
    chatNo,
    contentType: 'text',
    content,
    senderName: 'load member',
    senderNo: 1000,
    saleNo: 1,
    sendTime: 1_700_000_000_000,
    readCount: 0,
    senderEmail: 'load-1000@load.example.org',
    seq,
  };
}

/** A message as a client of MQTT or of nchan publishes it. */
export function messageFrame(chatNo: number, content: string, seq: number): string {
  return eventFrame('message', JSON.stringify(messagePayload(chatNo, content, seq)));
}

export function notificationPayload(id: number, content: string): NotificationView {
  return {
    id,
    type: 'announcement',
    content,
    url: '/board/1',
    publishedAt: [2026, 1, 2, 3, 4, 5],
    name: 'admin',
    checked: false,
    del: false,
  };
}

/** An event as a text frame of Socket.IO's protocol. @param payload as JSON */
export function eventFrame(event: 'message' | 'notification', payload: string): string {
  return `42["${event}",${payload}]`;
}

export function messageRecord(chatNo: number, seq: number, content: string, clientId: string): MessageRecord {
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

const SAMPLE_TEXT = 'the quick brown fox jumps over the lazy dog '.repeat(3);

/** The i-th of messages sent to `rooms` rooms in turn. @param length characters, at most 132 */
export function sampleRecord(i: number, rooms: number, length?: number): MessageRecord {
  return messageRecord(i % rooms, Math.floor(i / rooms) + 1, SAMPLE_TEXT.slice(0, length), `k${i}`);
}

/** A bare driver with the service's write concern. */
export function openDriver(uri: string): Promise<MongoClient> {
  const writeConcern = { w: 'majority', journal: true } as const;
  return new MongoClient(uri, { writeConcern, maxPoolSize: 20 }).connect();
}

export async function openMessages(uri: string): Promise<Collection<MessageRecord>> {
  return (await openDriver(uri)).db().collection<MessageRecord>('messages');
}
