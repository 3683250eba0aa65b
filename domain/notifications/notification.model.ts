import { model, Schema } from 'mongoose';

/** All kinds of notifications. (contract, section 6) */
export const notificationTypes = [
  'announcement',
  'documentHot',
  'documentWeek',
  'chat',
  'note',
  'comment',
  'recomment',
] as const;
export type NotificationType = (typeof notificationTypes)[number];

export interface NotificationRecord {
  /** Notification number. */
  _id: number;
  /** The member it is for. */
  memberNo: number;
  /** 1, 2, 3 … per member: the second half of its event id. */
  n: number;
  type: NotificationType;
  content: string;
  /** A path inside the app; presented with a leading slash. */
  url: string;
  /** The member it comes from; 0 for the service itself. */
  originNo: number;
  publishedAt: Date;
  checked: boolean;
  deleted: boolean;
  /** Key of what led to it: the same cause never notifies a member twice. */
  cause: string;
  /** The room a chat notification is about. */
  chatNo?: number;
}

const schema = new Schema<NotificationRecord>(
  {
    _id: Number,
    memberNo: Number,
    n: Number,
    type: { type: String, enum: notificationTypes },
    content: String,
    url: String,
    originNo: Number,
    publishedAt: Date,
    checked: Boolean,
    deleted: Boolean,
    cause: String,
    chatNo: Number,
  },
  { versionKey: false, collection: 'notifications' },
);
schema.index({ memberNo: 1, n: 1 }, { unique: true });
schema.index({ memberNo: 1, cause: 1 }, { unique: true });
schema.index({ memberNo: 1, chatNo: 1, n: 1 }, { partialFilterExpression: { chatNo: { $exists: true } } });

export const Notification = model('Notification', schema);
