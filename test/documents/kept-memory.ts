import { randomBytes } from 'node:crypto';
import { AdoptionPost } from '../../domain/adoption/adoption-post.model.js';
import { createPostDirectory } from '../../domain/adoption/post-directory.js';
import { createMemoryRecentClients } from '../../domain/chat/recent-clients.memory.js';
import { RoomChanges } from '../../domain/chat/room-changes.js';
import { createRoomStates } from '../../domain/chat/room-states.js';
import { clientHash } from '../../domain/kernel/client.js';
import { systemClock } from '../../domain/kernel/clock.js';
import { createAuthenticator } from '../../domain/members/authenticate.js';
import { Member } from '../../domain/members/member.model.js';
import { createMemberDirectory } from '../../domain/members/member-directory.js';
import { Deliverer } from '../../domain/notifications/deliver.js';
import { createCache } from '../../domain/platform/async/cache.js';
import { connectMongo, disconnectMongo } from '../../domain/platform/mongo/connection.js';
import { createMemoryQuotas } from '../../domain/platform/rate-limits/quotas.memory.js';
import { budgets } from '../../domain/platform/rate-limits/rate-limits.js';
import { createMemoryRateLimits } from '../../domain/platform/rate-limits/rate-limits.memory.js';
import { ConnectionLimits } from '../../gateway/limits/connection-limits.js';
import { keepSession } from '../../http/session-cookie.js';
import * as records from '../../scripts/load/seed-records.js';
import { roomState } from '../support/chat.js';
import { memoryTaken } from '../support/memory.js';
import { inStoppedTime } from '../support/time.js';

/**
 * The program of memory.test.ts: measures what an entry of each row keeps in memory, and prints the bytes as JSON. In a
 * process of its own, as the garbage and the compiled code of other tests decide otherwise what is measured.
 */

/** Entries are measured in so many batches, after as many that are not. */
const BATCHES = 8;

/** Entries of a batch: each of a record, or of a number alone. */
const RECORDS = 500;
const NUMBERS = 3_000;

/** The lowest number: above all others, and no small integer to V8. */
const FIRST = 2 ** 40;
const batchOf = (batch: number, size: number) =>
  Array.from({ length: size }, (_, i) => FIRST + batch * size + i);

/** A string as a parser makes it, not one that refers to its parts. */
const plain = (text: string) => Buffer.from(text).toString();
const addressOf = (no: number) => plain(`10.0.${no % 256}.${no - FIRST}`);

/** Adds entries with these numbers to what a row of the table is about. */
type Fill = (nos: number[]) => unknown;

const each =
  (fill: (no: number) => unknown): Fill =>
  (nos) =>
    Promise.all(nos.map(fill));

/** By the first cell of the row. */
const fillers: Record<string, () => Fill> = {
  'accepted token (of 250 characters), with its cookie': () => {
    const verify = async (token: string) => ({
      claimedRole: null,
      ...{ email: records.emailOf(Number(token.slice(0, 13))), issuedAt: 0, expiresAt: 2_000_000_000.5 },
    });
    const authenticate = createAuthenticator(systemClock, verify, { remember() {} } as never);
    // Sending the header makes a plain string of it.
    const answer = { get: () => '', secure: false, append: (_: string, value: string) => plain(value) };
    return each(async (no) => {
      const token = plain(`${no}${randomBytes(200).toString('hex')}`.slice(0, 250));
      keepSession(answer as never, token, await authenticate(token));
    });
  },
  'member’s name': () => {
    const directory = createMemberDirectory();
    return (nos) => directory.lookUp(nos);
  },
  'room’s state (newest message of 80 characters)': () => {
    const state = (chatNo: number) => {
      const latest = { content: randomBytes(40).toString('hex'), contentType: 'text', sentAt: new Date() };
      return roomState({ chatNo, createdAt: new Date(), latest });
    };
    const states = createRoomStates(async (nos) => new Map(nos.map((no) => [no, state(no)])));
    return each((no) => states.get(no));
  },
  'member at a client': () => {
    const clients = createMemoryRecentClients();
    return each((no) => {
      const client = clientHash({ address: addressOf(no), userAgent: 'browser' }) as string;
      clients.touch(client, no, { rooms: [no] });
    });
  },
  'adoption post’s title': () => {
    const posts = createPostDirectory();
    return (nos) => posts.findPosts(nos);
  },
  'room’s last change': () => {
    const changes = new RoomChanges({ shared: true } as never);
    return each((no) => changes.touch(no, []));
  },
  'numbers of 512 delivered notifications': () => {
    const deliverer = new Deliverer({} as never);
    return each((no) => deliverer.acceptPush(512 * no));
  },
  // The cache of the notifier, which stores a notification with every entry.
  'number of a member’s last notification': () => {
    const numbers = createCache<number, number>(100_000);
    return each((no) => numbers.set(no, no - FIRST));
  },
  'member’s count of a day (four kinds)': () => {
    const quotas = createMemoryQuotas({ rooms: 10, messages: 10, articles: 10, comments: 10 });
    return each((no) => quotas.take('messages', no));
  },
  'member’s or network’s frames': () => {
    const sizes = { SOCKET_FRAMES: 10, SOCKET_BYTES: 10, SOCKET_HANDSHAKES: 10 };
    const limits = new ConnectionLimits({ ...sizes, SOCKET_UNADMITTED: 10, SOCKET_CONNECTIONS: 10 });
    return each((no) => limits.refuses(addressOf(no)));
  },
  'member’s or address’s budget': () => {
    // Its entries end by real timers: on a busy machine they would while they are measured.
    const limits = createMemoryRateLimits({ ...budgets, read: { points: 10, duration: 3_600 } });
    return each((no) => limits.take('read', addressOf(no)));
  },
};

/** Rows whose entries are read from the database, or of which fewer are kept. */
const OF_FEW = new Set([
  'accepted token (of 250 characters), with its cookie',
  'member’s name',
  'adoption post’s title',
  'numbers of 512 delivered notifications',
]);

/** Bytes of an entry that are not on the heap: when those of others are freed is up to another thread, so they are not measured. */
const OFF_HEAP: Record<string, number> = { 'numbers of 512 delivered notifications': 512 };

await connectMongo(process.env.MONGODB_URI as string);
const nos = batchOf(0, 2 * BATCHES * RECORDS);
await Member.collection.insertMany(nos.map(records.member) as never[]);
await AdoptionPost.collection.insertMany(nos.map((no) => records.post(no, no)) as never[]);
const measured: Record<string, number> = {};
// However long it takes, nothing expires: neither what is measured, nor what was before it.
await inStoppedTime(async () => {
  for (const [name, start] of Object.entries(fillers)) {
    const size = OF_FEW.has(name) ? RECORDS : NUMBERS;
    const fill = start();
    const bytes = await memoryTaken(BATCHES, async (batch) => {
      await fill(batchOf(batch, size));
    });
    measured[name] = Math.round(bytes / (BATCHES * size)) + (OFF_HEAP[name] ?? 0);
    // What it has filled is in memory until here.
    if (typeof fill !== 'function') throw new TypeError(name);
  }
});
await disconnectMongo();
process.stdout.write(JSON.stringify(measured));
