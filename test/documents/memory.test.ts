import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
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
import { createCache } from '../../domain/platform/cache.js';
import { createMemoryQuotas } from '../../domain/platform/rate-limits/quotas.memory.js';
import { budgets } from '../../domain/platform/rate-limits/rate-limits.js';
import { createMemoryRateLimits } from '../../domain/platform/rate-limits/rate-limits.memory.js';
import { ConnectionLimits } from '../../gateway/connection-limits.js';
import { keepSession } from '../../http/session-cookie.js';
import * as records from '../../scripts/load/seed-records.js';
import { roomState } from '../support/chat.js';
import { memoryTaken } from '../support/memory.js';
import { service } from '../support/service.js';
import { inStoppedTime } from '../support/time.js';
import { tableOf } from './documents.js';

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
    const changes = new RoomChanges({ shared: true } as never, () => true);
    return each((no) => changes.touch(no, []));
  },
  'delivered notification’s number': () => {
    const deliverer = new Deliverer({} as never);
    return each((no) => deliverer.acceptPush(no));
  },
  // The cache of the notifier, which stores a notification with every entry.
  'number of a member’s last notification': () => {
    const numbers = createCache<number, number>(100_000);
    return each((no) => numbers.set(no, no - FIRST));
  },
  'member’s count of a day (three kinds)': () => {
    const quotas = createMemoryQuotas({ messages: 10, articles: 10, comments: 10 });
    return each((no) => quotas.take('messages', no));
  },
  'member’s or address’s budget': () => {
    const limits = createMemoryRateLimits(budgets);
    return each((no) => limits.take('read', addressOf(no)));
  },
  'member’s or network’s frames': () => {
    const sizes = { SOCKET_FRAMES: 10, SOCKET_BYTES: 10, SOCKET_HANDSHAKES: 10 };
    const limits = new ConnectionLimits({ ...sizes, SOCKET_UNADMITTED: 10, SOCKET_CONNECTIONS: 10 });
    return each((no) => limits.refuses(addressOf(no)));
  },
};

/** Rows whose entries are read from the database. */
const OF_RECORDS = new Set([
  'accepted token (of 250 characters), with its cookie',
  'member’s name',
  'adoption post’s title',
]);

describe('what a process keeps in memory', () => {
  const rows = tableOf(
    'docs/operations.md',
    '| kept in memory | entries at most | leaves memory | bytes each | MiB at most |',
  );
  const numberIn = (text = '') => Number(text.replaceAll(',', ''));

  before(async () => {
    await service();
    const nos = batchOf(0, 2 * BATCHES * RECORDS);
    await Member.collection.insertMany(nos.map(records.member) as never[]);
    await AdoptionPost.collection.insertMany(nos.map((no) => records.post(no, no)) as never[]);
  });
  after(async () => {
    await Member.deleteMany({ _id: { $gte: FIRST } });
    await AdoptionPost.deleteMany({ _id: { $gte: FIRST } });
  });

  for (const [name, start] of Object.entries(fillers)) {
    it(`is what docs/operations.md says: ${name}`, async () => {
      const stated = numberIn(rows.find(([kept]) => kept === name)?.[3]);
      const size = OF_RECORDS.has(name) ? RECORDS : NUMBERS;
      const isStated = (taken: number) => Math.abs(taken - stated) <= stated * 0.4;
      let taken = 0;
      // Room for entries is added by doubling, and the garbage of other tests comes and goes.
      for (let turn = 0; turn < 3 && !isStated(taken); turn += 1) {
        const fill = start();
        // However long it takes, nothing expires.
        await inStoppedTime(async () => {
          const bytes = await memoryTaken(BATCHES, async (batch) => {
            await fill(batchOf(batch, size));
          });
          taken = Math.round(bytes / (BATCHES * size));
        });
        expect(fill, 'held until here').to.be.a('function');
      }
      expect(taken).to.be.within(stated * 0.6, stated * 1.4);
    });
  }

  it('is at most the product of the two', () => {
    for (const [kept, entries, , bytes, mib] of rows) {
      if (mib === '') continue;
      expect(Math.round((numberIn(entries) * numberIn(bytes)) / 1024 ** 2), kept).to.equal(numberIn(mib));
    }
    expect(rows.map(([kept]) => kept)).to.have.members(Object.keys(fillers));
  });
});
