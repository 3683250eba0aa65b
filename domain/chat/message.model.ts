import { model, Schema } from 'mongoose';
import type { Position, Side } from './room.model.js';

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
schema.index({ unannounced: 1, sentAt: 1 }, { partialFilterExpression: { unannounced: true } });

export const Message = model('Message', schema);
