import { model, Schema } from 'mongoose';
import { aggregateRecords, readRecords } from '../platform/mongo/records.js';

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
  /** A path inside the app, with a leading slash. */
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

/** The member's last number; 0 without any. */
export async function lastNumberOf(memberNo: number): Promise<number> {
  const [last] = await readRecords<NotificationRecord>(
    Notification,
    { memberNo },
    { sort: { n: -1 }, limit: 1, projection: { n: 1 } },
  );
  return last?.n ?? 0;
}

/** Reads for each member in the list how far their numbers go; 0 without any is left out. Two index look-ups per member. */
async function readLastNumbers(memberNos: number[]): Promise<Map<number, number>> {
  const last = {
    from: Notification.collection.name,
    localField: 'memberNo',
    foreignField: 'memberNo',
    pipeline: [{ $sort: { n: -1 } }, { $limit: 1 }, { $project: { _id: 0, n: 1 } }],
    as: 'last',
  };
  const found = await aggregateRecords<{ memberNo: number; last: { n: number }[] }>(
    Notification,
    [
      // Numbers begin with 1; while they are being raised (numbered-records.ts), some are below.
      { $match: { memberNo: { $in: memberNos }, n: { $lte: 1 } } },
      { $project: { _id: 0, memberNo: 1 } },
      { $lookup: last },
    ],
    { batchSize: memberNos.length + 1 },
  );
  return new Map(found.map(({ memberNo, last: [newest] }) => [memberNo, newest?.n ?? 0]));
}

/** The last numbers of members, of those without any 0 or nothing; of a single one without the cost of an aggregation. */
export async function lastNumbersOf(memberNos: number[]): Promise<Map<number, number>> {
  const [only, ...others] = memberNos;
  if (only === undefined) return new Map();
  return others.length > 0 ? readLastNumbers(memberNos) : new Map([[only, await lastNumberOf(only)]]);
}

/**
 * The member's newest notifications in a range of numbers, newest first, without the deleted ones, bypassing mongoose.
 * @param range above `after`, below `before`
 * @param without rooms whose notifications are left out
 */
export function readNewest(
  memberNo: number,
  { after, before }: { after: number; before: number },
  without: number[],
  limit: number,
): Promise<NotificationRecord[]> {
  return readRecords<NotificationRecord>(
    Notification,
    { memberNo, n: { $gt: after, $lt: before }, deleted: false, chatNo: { $nin: without } },
    { sort: { n: -1 }, limit },
  );
}

/** The first ids of records that match, lowest first, in one document, bypassing mongoose. */
export async function readIds(match: object, limit: number): Promise<number[]> {
  const [all] = await aggregateRecords<{ ids: number[] }>(Notification, [
    { $match: match },
    { $sort: { _id: 1 } },
    { $limit: limit },
    { $group: { _id: null, ids: { $push: '$_id' } } },
  ]);
  return all?.ids ?? [];
}

const SHARED = ['type', 'content', 'url', 'originNo', 'publishedAt', 'checked', 'deleted'] as const;

/** What the notifications of one announcement have in common. */
export type SharedFields = Pick<NotificationRecord, (typeof SHARED)[number]>;

/** A notification that was not pushed to this process. */
export interface MissedNotification extends Pick<NotificationRecord, '_id' | 'memberNo' | 'n'> {
  /** The same object for all notifications read together that agree in it. */
  shared: SharedFields;
}

/**
 * The notifications of these ids, lowest first, bypassing mongoose. Shared fields are read once: an announcement
 * has a record for every member, and reading each of them whole was most of the cost of delivering it.
 */
export async function readMissed(ids: number[]): Promise<MissedNotification[]> {
  const groups = await aggregateRecords<{
    _id: SharedFields;
    ids: number[];
    members: number[];
    numbers: number[];
  }>(Notification, [
    { $match: { _id: { $in: ids } } },
    {
      $group: {
        _id: Object.fromEntries(SHARED.map((field) => [field, `$${field}`])),
        ids: { $push: '$_id' },
        members: { $push: '$memberNo' },
        numbers: { $push: '$n' },
      },
    },
  ]);
  return groups
    .flatMap(({ _id: shared, ids, members, numbers }) =>
      ids.map((_id, i) => ({ _id, memberNo: members[i] as number, n: numbers[i] as number, shared })),
    )
    .sort((a, b) => a._id - b._id);
}
