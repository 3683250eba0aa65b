import { seedArticles, seedComments, seedNotifications, seedPosts, seedRooms } from '../board-world.js';
import { type ChatWorld, seedChat } from '../chat-world.js';
import type { HttpCommand, HttpTally } from '../clients/http-worker.js';
import { HOST, startDatabase, startService } from '../installation.js';
import { merge, percentiles } from '../latency.js';
import type { Figures } from '../metrics.js';
import { cpuMicros } from '../process-figures.js';
import { messageOf } from '../process-group.js';
import {
  atLeast,
  atMost,
  type Contender,
  medianOf,
  type Result,
  type Run,
  ratio,
  type Scenario,
} from '../scenario.js';
import { startLocal } from '../socket-servers.js';
import { openWindow, usedPer } from '../window.js';

/** Requests on their way at the same time. */
const CONNECTIONS = 16;

/** Long enough for the compiler to have settled: the service has more code to compile than the bare route. */
const WARM_UP_SECONDS = 4;

const COMMENTS = 30;
const POSTS = 200;
const MESSAGES = 50;
const NOTIFICATIONS = 50;

/** First of the reading member's rooms; room 1 is the one that seedChat opens. */
const FIRST_ROOM = 2;

/** How much there is to read. */
interface Amounts {
  articles: number;
  rooms: number;
}
const USUAL: Amounts = { articles: 1_000, rooms: 20 };

interface Read {
  part: string;
  paths: string[];
  amounts: Amounts;
  /** Reads by the bare route as well. */
  beside: boolean;
}

const FEW_ARTICLES = 'GET /community/list/recent among 100';
const MANY_ARTICLES = 'GET /community/list/recent among 100,000';
const roomsPart = (rooms: number) => `GET /chatroom of ${rooms.toLocaleString('en')}`;
const ROOM_COUNTS = [10, 100, 1_000];

const reads: Read[] = [
  {
    part: FEW_ARTICLES,
    paths: ['/community/list/recent'],
    amounts: { ...USUAL, articles: 100 },
    beside: true,
  },
  {
    part: MANY_ARTICLES,
    paths: ['/community/list/recent'],
    amounts: { ...USUAL, articles: 100_000 },
    beside: true,
  },
  {
    part: 'GET /community/article/:id',
    paths: Array.from({ length: 50 }, (_, i) => `/community/article/${i + 1}`),
    amounts: USUAL,
    beside: true,
  },
  {
    part: `GET /community/comment/:id, ${COMMENTS} comments`,
    paths: ['/community/comment/1'],
    amounts: USUAL,
    beside: true,
  },
  ...ROOM_COUNTS.map((rooms) => ({
    part: roomsPart(rooms),
    paths: ['/chatroom'],
    amounts: { ...USUAL, rooms },
    beside: true,
  })),
  {
    part: `GET /chatroom/:no, ${MESSAGES} messages`,
    paths: Array.from({ length: 10 }, (_, i) => `/chatroom/${FIRST_ROOM + i}`),
    amounts: USUAL,
    beside: true,
  },
  { part: `GET /adopt/render, ${POSTS} posts`, paths: ['/adopt/render'], amounts: USUAL, beside: true },
  {
    part: `GET /notification/all, ${NOTIFICATIONS}`,
    paths: ['/notification/all'],
    amounts: USUAL,
    beside: true,
  },
];

/** A database with everything that is read; the first member reads. */
async function seed(uri: string, { articles, rooms }: Amounts): Promise<ChatWorld> {
  const world = await seedChat(uri, 1, { extra: 48 });
  const [me = 1, ...others] = world.members;
  await seedArticles(uri, articles, world.members);
  await seedComments(uri, COMMENTS, world.members);
  await seedPosts(uri, POSTS, world.members);
  await seedRooms(uri, FIRST_ROOM, rooms, me, others, MESSAGES);
  await seedNotifications(uri, NOTIFICATIONS, me);
  return world;
}

async function measure(read: Read, bare: boolean, { stage, options }: Run): Promise<Figures> {
  const database = await startDatabase(stage);
  const world = await seed(database.uri, read.amounts);
  let [pid, port] = [0, 0];
  if (bare) {
    const server = await startLocal(stage, 'koa-routes', [database.uri, String(world.members[0])]);
    [pid, port] = [server.actor.pid, server.port];
  } else {
    const service = await startService(stage, database.uri);
    [pid, port] = [service.actor.pid, service.httpPort];
  }
  const client = stage.fork('clients', 'load/clients/http-worker.js');
  await messageOf(client, (m) => m === 'ready');
  async function load(seconds: number): Promise<HttpTally> {
    const command: HttpCommand = {
      host: HOST,
      port,
      paths: read.paths,
      token: world.tokens[0] as string,
      connections: CONNECTIONS,
      seconds,
    };
    const tally = messageOf<HttpTally>(
      client,
      (m) => typeof (m as { answered?: unknown }).answered === 'number',
      seconds * 1_000 + 60_000,
    );
    client.child.send(command);
    return tally;
  }
  await load(Math.min(WARM_UP_SECONDS, options.seconds));
  const close = openWindow({ pids: [pid], databasePid: database.pid });
  const clientCpu = cpuMicros(client.pid);
  const { answered, failed, times } = await load(options.seconds);
  const used = close();
  if (answered === 0) throw new Error('nothing was answered with 200');
  return {
    ...usedPer(used, answered),
    delivered: answered,
    lost: failed,
    perSecond: answered / used.seconds,
    ...percentiles(merge([times])),
    clients: (cpuMicros(client.pid) - clientCpu) / used.seconds / 10_000,
  };
}

const OURS = 'this service';
const BARE = 'bare Koa route';

/** CPU of the service and of its database for one request. */
function whole(results: Result[], part: string): number | undefined {
  const [cpu, databaseCpu] = (['cpu', 'databaseCpu'] as const).map((metric) =>
    medianOf(results, OURS, metric, part),
  );
  return cpu === undefined || databaseCpu === undefined ? undefined : cpu + databaseCpu;
}

export const http: Scenario = {
  name: 'http',
  title:
    'Documented reads, 16 at a time as fast as they are answered, each beside a bare Koa route with its query',
  columns: ['cpu', 'databaseCpu', 'delivered', 'lost', 'perSecond', 'p50', 'p99', 'p999', 'clients'],

  contenders: () =>
    reads.flatMap((read): Contender[] => [
      { name: OURS, role: 'ours', part: read.part, measure: (run) => measure(read, false, run) },
      ...(read.beside
        ? [
            {
              name: BARE,
              role: 'limit' as const,
              part: read.part,
              measure: (run: Run) => measure(read, true, run),
            },
          ]
        : []),
    ]),

  verdicts(results) {
    const perRoom = ROOM_COUNTS.map((rooms) => {
      const cost = whole(results, roomsPart(rooms));
      return cost === undefined ? undefined : cost / rooms;
    });
    return [
      ...reads
        .filter(({ beside }) => beside)
        .map(({ part }) =>
          atLeast(
            `${part}: requests per CPU second of the server, against the bare route`,
            ratio(medianOf(results, BARE, 'cpu', part), medianOf(results, OURS, 'cpu', part)),
            0.75,
          ),
        ),
      atMost(
        'article list among 100,000 against among 100, server and database',
        ratio(whole(results, MANY_ARTICLES), whole(results, FEW_ARTICLES)),
        1.3,
      ),
      atMost(
        'room list, cost per listed room among 1,000 against among 10, server and database',
        ratio(perRoom[2], perRoom[0]),
        1.15,
      ),
    ];
  },
};
