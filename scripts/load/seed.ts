import { AdoptionPost } from '../../domain/adoption/adoption-post.model.js';
import { Message } from '../../domain/chat/message.model.js';
import { Room } from '../../domain/chat/room.model.js';
import { Article } from '../../domain/community/article.model.js';
import { Comment } from '../../domain/community/comment.model.js';
import { issueToken } from '../../domain/members/index.js';
import { Member } from '../../domain/members/member.model.js';
import { Notification } from '../../domain/notifications/notification.model.js';
import { connectMongo, disconnectMongo } from '../../domain/platform/mongo/connection.js';
import { prepareDatabase } from '../../domain/platform/mongo/migrate.js';
import { reserveNumbers, type SequenceName } from '../../domain/platform/mongo/sequence.model.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import type { ConnectionSpec } from './clients/connection.js';
import { SECRET } from './installation.js';
import * as records from './seed-records.js';

/** Records per insert. */
const BATCH = 1_000;

/** Access tokens of members 1 … count, or of those after the first ones, valid for longer than any load test. */
export function tokensOf(secret: string, count: number, after = 0): Promise<string[]> {
  const config = loadConfig({ JWT_SECRET: secret, NODE_ENV: 'test' }, '/nonexistent');
  return Promise.all(
    Array.from({ length: count }, (_, i) =>
      issueToken(config, {
        email: records.emailOf(after + i + 1),
        nickname: records.nicknameOf(after + i + 1),
        ttl: '24h',
      }),
    ),
  );
}

/** Connects the models to an indexed database for the duration of `work`. */
export async function connected<T>(uri: string, work: () => Promise<T>): Promise<T> {
  await connectMongo(uri);
  try {
    await prepareDatabase(uri, 'nothing', () => {});
    return await work();
  } finally {
    await disconnectMongo();
  }
}

interface Insertable {
  collection: { insertMany(records: never[], options: { ordered: boolean }): Promise<unknown> };
}

/** Inserts `count` records bypassing the domain, which would write them one by one. */
export async function insertAll<T extends object>(
  { collection }: Insertable,
  count: number,
  record: (i: number) => T,
): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => record(from + i));
    await collection.insertMany(batch as never[], { ordered: false });
  }
}

/** Inserts records numbered `first` … `last`. */
async function insertNumbered(
  sequence: SequenceName,
  model: Insertable,
  [first, last]: [number, number],
  record: (no: number) => { _id: number },
): Promise<void> {
  await reserveNumbers(sequence, [last]);
  await insertAll(model, last - first + 1, (i) => record(first + i));
}

/**
 * Fills an empty database with members, an adoption post of member 1, and rooms 1 … `rooms` about it: room i is of
 * members 2i - 1 and 2i.
 *
 * @param options.extra members without a room
 * @param options.sharedCreator all rooms are of member 1 instead of member 2i - 1
 * @returns connections of both members of room 1, of room 2 and so on, and of the extra members
 */
export async function seedChat(
  uri: string,
  rooms: number,
  { extra = 0, sharedCreator = false }: { extra?: number; sharedCreator?: boolean } = {},
): Promise<ConnectionSpec[]> {
  const creatorOf = (no: number) => (sharedCreator ? 1 : no * 2 - 1);
  const count = rooms * 2 + extra;
  await connected(uri, async () => {
    await insertNumbered('member', Member, [1, count], records.member);
    await insertNumbered('adoption', AdoptionPost, [1, 1], (no) => records.post(no, 1));
    await insertNumbered('room', Room, [1, rooms], (no) => records.room(no, 1, creatorOf(no), no * 2));
  });
  const tokens = await tokensOf(SECRET, count);
  return tokens.map((token, i) => {
    const room = (i >> 1) + 1;
    if (room > rooms) return { token };
    return { room, token: i % 2 === 0 ? (tokens[creatorOf(room) - 1] as string) : token };
  });
}

/**
 * Fills an empty database with rooms of member 1, each about another adoption post of theirs, with `joiners` other members
 * in turn.
 *
 * @returns tokens of the joiners: the rooms of the first are 1, `joiners` + 1, 2 × `joiners` + 1 and so on
 */
export async function seedRooms(uri: string, rooms: number, joiners: number): Promise<string[]> {
  const posts = Math.ceil(rooms / joiners);
  await connected(uri, async () => {
    await insertNumbered('member', Member, [1, joiners + 1], records.member);
    await insertNumbered('adoption', AdoptionPost, [1, posts], (no) => records.post(no, 1));
    await insertNumbered('room', Room, [1, rooms], (no) =>
      records.room(no, Math.ceil(no / joiners), 1, 2 + ((no - 1) % joiners)),
    );
  });
  return tokensOf(SECRET, joiners, 1);
}

/** How many records of each kind there are to read over HTTP, in addition to those of `seedChat`. */
export interface ContentCounts {
  articles: number;
  /** All on article 1. */
  comments: number;
  posts: number;
  /** All created by member 1, with other members. */
  rooms: number;
  messagesPerRoom: number;
  /** All for member 1. */
  notifications: number;
}

/** Adds to a database of `seedChat` the records that are read over HTTP. @param members how many it has */
export function seedContent(uri: string, members: number, counts: ContentCounts): Promise<void> {
  const { articles, comments, posts, rooms, messagesPerRoom, notifications } = counts;
  const author = (no: number) => 1 + (no % members);
  const joiner = (no: number) => 2 + (no % (members - 1));
  const now = Date.now();
  return connected(uri, async () => {
    const article = (no: number) => records.article(no, articles, author(no));
    await insertNumbered('article', Article, [1, articles], article);
    await insertNumbered('comment', Comment, [1, comments], (no) => records.comment(no, author(no)));
    await insertNumbered('adoption', AdoptionPost, [2, posts + 1], (no) => records.post(no, author(no)));
    await insertNumbered('room', Room, [2, rooms + 1], (no) => records.room(no, no, 1, joiner(no)));
    await insertAll(Message, rooms * messagesPerRoom, (i) => {
      const [no, seq] = [2 + Math.floor(i / messagesPerRoom), (i % messagesPerRoom) + 1];
      const sentAt = new Date(now - (messagesPerRoom - seq) * 1_000 - no);
      return records.message(no, seq, seq % 2 === 1 ? 1 : joiner(no), sentAt);
    });
    await insertNumbered('notification', Notification, [1, notifications], (no) =>
      records.notification(no, 1),
    );
  });
}
