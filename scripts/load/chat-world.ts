import { MongoClient } from 'mongodb';
import { createDomain } from '../../domain/domain.js';
import { noLive } from '../../domain/kernel/live.js';
import { issueToken } from '../../domain/members/index.js';
import { type Config, loadConfig } from '../../domain/platform/config.js';
import { createLogger } from '../../domain/platform/logger.js';
import { connectMongo, disconnectMongo, ensureIndexes } from '../../domain/platform/mongo/connection.js';
import { SECRET } from './installation.js';

/** Members written together. */
const BATCH = 1_000;

/** A chat room and the tokens of its two members. */
export interface LoadRoom {
  no: number;
  tokens: [string, string];
}

/** Whom a load test acts as. */
export interface ChatWorld {
  /** Numbers of the members, in the order of their tokens. */
  members: number[];
  tokens: string[];
  rooms: LoadRoom[];
}

/** Configuration for signing tokens alone. */
export function signingConfig(secret: string): Config {
  return loadConfig({ JWT_SECRET: secret, NODE_ENV: 'test' }, '/nonexistent');
}

function emailOf(i: number): string {
  return `load-${i}@load.example.org`;
}

/** Access tokens of the first members, valid for longer than any load test takes. */
export function tokensOf(config: Config, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) =>
      issueToken(config, { email: emailOf(i + 1), nickname: `member ${i + 1}`, ttl: '24h' }),
    ),
  );
}

/**
 * Fills an empty database: members, an adoption post, and rooms of two members each. Rooms are written
 * past the domain, which opens them one by one.
 *
 * @param rooms how many; room i is of members 2i-1 and 2i
 * @param options.extra further members, who are in no room
 * @param options.oneAuthor every room is of member 1 and member 2i instead: rooms about one post
 */
export async function seedChat(
  uri: string,
  rooms: number,
  { extra = 0, oneAuthor = false }: { extra?: number; oneAuthor?: boolean } = {},
): Promise<ChatWorld> {
  const config = signingConfig(SECRET);
  const count = rooms * 2 + extra;
  await connectMongo(uri);
  try {
    await ensureIndexes(uri);
    const domain = await createDomain({ config, logger: createLogger('silent', 'load'), live: noLive });
    const members: number[] = [];
    for (let from = 0; from < count; from += BATCH) {
      const facts = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => ({
        email: emailOf(from + i + 1),
        nickname: `member ${from + i + 1}`,
        issuedAt: Math.floor(Date.now() / 1_000),
      }));
      for (const { actor } of await domain.members.saveAll(facts)) members.push(actor.no);
    }
    const saleNo = await domain.adoption.savePost({
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
    const pairs = Array.from({ length: rooms }, (_, i): [number, number] => [
      oneAuthor ? 0 : i * 2,
      i * 2 + 1,
    ]);
    await writeRooms(
      uri,
      saleNo,
      pairs.map(([creator, joiner]) => [members[creator] ?? 0, members[joiner] ?? 0]),
    );
    const tokens = await tokensOf(config, count);
    return {
      members,
      tokens,
      rooms: pairs.map(([creator, joiner], i) => ({
        no: i + 1,
        tokens: [tokens[creator], tokens[joiner]] as [string, string],
      })),
    };
  } finally {
    await disconnectMongo();
  }
}

/** @param pairs creator and joiner of each room */
async function writeRooms(uri: string, saleNo: number, pairs: [number, number][]): Promise<void> {
  if (pairs.length === 0) return;
  const client = new MongoClient(uri);
  try {
    const nobody = { seq: 0, others: 0 };
    const records = pairs.map(([creator, joiner], i) => ({
      _id: (i + 1) as never,
      saleNo,
      creator,
      joiner,
      createdAt: new Date(),
      read: { creator: nobody, joiner: nobody },
    }));
    for (let from = 0; from < records.length; from += BATCH) {
      await client
        .db()
        .collection('rooms')
        .insertMany(records.slice(from, from + BATCH));
    }
    await client
      .db()
      .collection('sequences')
      .updateOne({ _id: 'room' as never }, { $max: { value: pairs.length } }, { upsert: true });
  } finally {
    await client.close();
  }
}
