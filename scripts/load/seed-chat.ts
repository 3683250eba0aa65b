import { Room, type RoomRecord } from '../../domain/chat/room.model.js';
import { createDomain } from '../../domain/domain.js';
import { noLive } from '../../domain/kernel/live.js';
import { issueToken } from '../../domain/members/index.js';
import { type Config, loadConfig } from '../../domain/platform/config.js';
import { createLogger } from '../../domain/platform/logger.js';
import { connectMongo, disconnectMongo, ensureIndexes } from '../../domain/platform/mongo.js';
import { reserveNumber, type SequenceName } from '../../domain/platform/sequence.model.js';
import { SECRET } from './installation.js';

/** Records per insert. */
const BATCH = 1_000;

export interface SeededRoom {
  no: number;
  /** Of its creator and its joiner. */
  tokens: [string, string];
}

export interface SeededChat {
  /** Member numbers, in the order of `tokens`. */
  members: number[];
  tokens: string[];
  rooms: SeededRoom[];
}

/** A configuration that can sign tokens. */
export function signingConfig(secret: string): Config {
  return loadConfig({ JWT_SECRET: secret, NODE_ENV: 'test' }, '/nonexistent');
}

const emailOf = (i: number) => `load-${i}@load.example.org`;

/** Access tokens of the first members, valid for longer than any load test. */
export function tokensOf(config: Config, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) =>
      issueToken(config, { email: emailOf(i + 1), nickname: `member ${i + 1}`, ttl: '24h' }),
    ),
  );
}

/** Connects the domain's models to an indexed database for the duration of `work`. */
export async function connected<T>(uri: string, work: () => Promise<T>): Promise<T> {
  await connectMongo(uri);
  try {
    await ensureIndexes(uri);
    return await work();
  } finally {
    await disconnectMongo();
  }
}

interface Insertable {
  collection: { insertMany(records: never[], options: { ordered: boolean }): Promise<unknown> };
}

/** Inserts records past the domain, which would write them one by one. */
export async function insertAll<T extends object>(
  { collection }: Insertable,
  count: number,
  record: (i: number) => T,
): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const records = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => record(from + i));
    await collection.insertMany(records as never[], { ordered: false });
  }
}

/** The same for records numbered from `first`; the domain numbers its own after them. */
export async function insertNumbered<T extends { _id: number }>(
  sequence: SequenceName,
  model: Insertable,
  count: number,
  record: (i: number) => T,
  first = 1,
): Promise<void> {
  await reserveNumber(sequence, first + count - 1);
  await insertAll(model, count, record);
}

/** Inserts empty rooms numbered from `first`. */
export function insertRooms(
  rooms: Pick<RoomRecord, 'saleNo' | 'creator' | 'joiner'>[],
  first = 1,
): Promise<void> {
  const unread = { seq: 0, others: 0 };
  const record = (i: number): RoomRecord => ({
    ...(rooms[i] as (typeof rooms)[number]),
    _id: first + i,
    createdAt: new Date(),
    read: { creator: unread, joiner: unread },
  });
  return insertNumbered('room', Room, rooms.length, record, first);
}

/**
 * Fills an empty database with members, an adoption post, and rooms 1 … `rooms` about it.
 *
 * @param options.extra members without a room
 * @param options.sharedCreator the creator of room i is member 1 instead of member 2i - 1; the joiner is member 2i
 */
export async function seedChat(
  uri: string,
  rooms: number,
  { extra = 0, sharedCreator = false }: { extra?: number; sharedCreator?: boolean } = {},
): Promise<SeededChat> {
  const config = signingConfig(SECRET);
  const count = rooms * 2 + extra;
  const pairs = Array.from({ length: rooms }, (_, i) => [sharedCreator ? 0 : i * 2, i * 2 + 1] as const);
  return connected(uri, async () => {
    const domain = await createDomain({ config, logger: createLogger('silent', 'load'), live: noLive });
    const members: number[] = [];
    while (members.length < count) {
      const facts = Array.from({ length: Math.min(BATCH, count - members.length) }, (_, i) => ({
        email: emailOf(members.length + i + 1),
        nickname: `member ${members.length + i + 1}`,
        issuedAt: Math.floor(Date.now() / 1_000),
      }));
      members.push(...(await domain.members.saveAll(facts)).map(({ actor }) => actor.no));
    }
    const no = (i: number) => members[i] as number;
    const saleNo = await domain.adoption.createPost({
      title: 'A calm cat looks for a sunny window',
      authorNo: members[0] ?? 1,
      name: 'Mimi',
      age: '2',
      kind: 'cat',
      latitude: 37.55,
      longitude: 126.98,
      thumbnail: '/mimi.jpg',
    });
    await domain.close();
    await insertRooms(
      pairs.map(([creator, joiner]) => ({ saleNo, creator: no(creator), joiner: no(joiner) })),
    );
    const tokens = await tokensOf(config, count);
    return {
      members,
      tokens,
      rooms: pairs.map(([creator, joiner], i): SeededRoom => {
        return { no: i + 1, tokens: [tokens[creator] as string, tokens[joiner] as string] };
      }),
    };
  });
}
