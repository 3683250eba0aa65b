import { model, Schema } from 'mongoose';
import { WHOLE_GROUP } from '../platform/async/grouped-reads.js';
import type { Numbering } from '../platform/mongo/numbered-records.js';
import { aggregateRecords, readRecords } from '../platform/mongo/records.js';
import { type Position, Room, type RoomRecord, type Side } from './room.model.js';

export const contentTypes = ['text', 'image', 'picture', 'coords'] as const;
export type ContentType = (typeof contentTypes)[number];

/**
 * An entry of a room's ledger. Messages are inserted and never changed, and each carries the room's running
 * totals, so that no crash can leave two records that disagree (docs/decisions/chat-ledger).
 */
export interface MessageRecord {
  /** UUIDv7. */
  _id: string;
  chatNo: number;
  /** 1, 2, 3 … in this room. */
  seq: number;
  senderNo: number;
  contentType: ContentType;
  content: string;
  sentAt: Date;
  /** By the clock of the data (platform/mongo/data-clock.ts): rises over all rooms. Of earlier releases, none. */
  activity?: number;
  /** Messages each side has sent so far, including this one. */
  sent: Record<Side, number>;
  /** How far each side had read when this was written, as far as known. */
  read: Record<Side, Position>;
  /** Client key: a second send with it is the same message. */
  clientKey?: string;
  /** The recipient was absent and has not been notified yet; removed afterwards. */
  unannounced?: true;
}

const position = { _id: false, seq: Number, others: Number };

const schema = new Schema<MessageRecord>(
  {
    _id: String,
    chatNo: Number,
    seq: Number,
    senderNo: Number,
    contentType: { type: String, enum: contentTypes },
    content: String,
    sentAt: Date,
    activity: Number,
    sent: { _id: false, creator: Number, joiner: Number },
    read: { _id: false, creator: position, joiner: position },
    clientKey: String,
    unannounced: Boolean,
  },
  { versionKey: false, collection: 'messages' },
);
// Both unique indexes begin with the room: the collection can be sharded by it.
schema.index({ chatNo: 1, seq: 1 }, { unique: true });
schema.index(
  { chatNo: 1, senderNo: 1, clientKey: 1 },
  { unique: true, partialFilterExpression: { clientKey: { $exists: true } } },
);
schema.index({ unannounced: 1, activity: 1 }, { partialFilterExpression: { unannounced: true } });

export const Message = model('Message', schema);

export const messageNumbers: Numbering = { model: Message, owner: 'chatNo', number: 'seq' };

/**
 * Messages of a room with numbers above `after`, up to `upTo`, bypassing mongoose: `limit` at most, from the
 * oldest or the newest on.
 */
export function readMessages(
  chatNo: number,
  from: 'oldest' | 'newest',
  { after = 0, upTo = Number.MAX_SAFE_INTEGER, limit }: { after?: number; upTo?: number; limit: number },
): Promise<MessageRecord[]> {
  return readRecords<MessageRecord>(
    Message,
    { chatNo, seq: { $gt: after, $lte: upTo } },
    { sort: { seq: from === 'oldest' ? 1 : -1 }, limit },
  );
}

/** The highest wall clock (epoch ms) of a process that stored a message, by the newest identifier; 0 without any. */
export async function highestSentAt(): Promise<number> {
  const [newest] = await readRecords<MessageRecord>(Message, {}, { sort: { _id: -1 }, limit: 1 });
  return newest?.sentAt.getTime() ?? 0;
}

/** A room, and in a list its newest message, if it has one. Here, because messages know rooms, not rooms messages. */
export type RoomWithHead = RoomRecord & { head: MessageRecord[] };

/**
 * The matching rooms, each with its newest message, bypassing mongoose: two index look-ups per room.
 * @param fields projection of the message; all fields by default
 */
export function readRooms(match: object, fields?: Record<string, 1>): Promise<RoomWithHead[]> {
  const lookup = {
    from: Message.collection.name,
    localField: '_id',
    foreignField: 'chatNo',
    pipeline: [{ $sort: { seq: -1 } }, { $limit: 1 }, ...(fields ? [{ $project: fields }] : [])],
    as: 'head',
  };
  return aggregateRecords<RoomWithHead>(Room, [{ $match: match }, { $lookup: lookup }], WHOLE_GROUP);
}

/** The rooms with these numbers; a single one without the cost of an aggregation. */
export async function readRoomsByNumber(chatNos: number[]): Promise<RoomWithHead[]> {
  const [only, ...others] = chatNos;
  if (only === undefined || others.length > 0) return readRooms({ _id: { $in: chatNos } });
  const [rooms, head] = await Promise.all([
    readRecords<RoomRecord>(Room, { _id: only }, { limit: 1 }),
    readRecords<MessageRecord>(Message, { chatNo: only }, { sort: { seq: -1 }, limit: 1 }),
  ]);
  return rooms.map((room) => ({ ...room, head }));
}
