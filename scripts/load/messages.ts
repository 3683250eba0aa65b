import { randomUUID } from 'node:crypto';
import type { MessageRecord } from '../../domain/chat/message.model.js';
import type { MessagePayload, NotificationView } from '../../domain/kernel/live.js';

/** Records and payloads of peers and limits: the service's, so that all send the same bytes. */

const message: Omit<MessagePayload, 'id' | 'chatNo' | 'content' | 'seq'> = {
  contentType: 'text',
  senderName: 'load member',
  senderNo: 1000,
  saleNo: 1,
  sendTime: 1_700_000_000_000,
  readCount: 0,
  senderEmail: 'load-1000@load.example.org',
};

const notification: Omit<NotificationView, 'id' | 'content'> = {
  type: 'announcement',
  url: '/board/1',
  publishedAt: [2026, 1, 2, 3, 4, 5],
  name: 'admin',
  checked: false,
  del: false,
};

/** Fields as JSON without braces; serialized once, as a limit does only necessary work. */
const serialized = (fields: object) => JSON.stringify(fields).slice(1, -1);
const messageFields = serialized(message);
const notificationFields = serialized(notification);

const idOf = (seq: number) => `019a0000-0000-7000-8000-${String(seq).padStart(12, '0')}`;

export function messagePayload(chatNo: number, content: string, seq: number): MessagePayload {
  return { id: idOf(seq), chatNo, content, ...message, seq };
}

/** The same as JSON. @param content without characters that JSON escapes */
export function messageJson(chatNo: number, content: string, seq: number): string {
  return `{"id":"${idOf(seq)}","chatNo":${chatNo},"content":"${content}",${messageFields},"seq":${seq}}`;
}

/** A NotificationView as JSON. @param content without characters that JSON escapes */
export function notificationJson(id: number, content: string): string {
  return `{"id":${id},"content":"${content}",${notificationFields}}`;
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
    activity: Date.now(),
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
