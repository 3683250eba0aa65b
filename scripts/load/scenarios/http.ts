import type { HttpCommand } from '../clients/http-worker.js';
import { HOST, startDatabase, startService } from '../installation.js';
import { measureWork, sum } from '../measure.js';
import type { Figures } from '../metrics.js';
import type { Contender, Result, Run, Scenario } from '../scenario.js';
import { type ContentCounts, seedChat, seedContent } from '../seed.js';
import { atLeast, atMost, combine, medianOf, ratio, type Value } from '../verdict.js';

/** Requests at the same time. */
const CONNECTIONS = 16;

/** Long enough for compilation to settle: the service has more code to compile than the bare route. */
const WARM_UP_SECONDS = 4;

const COUNTS: ContentCounts = {
  articles: 1_000,
  comments: 30,
  posts: 200,
  rooms: 20,
  messagesPerRoom: 50,
  notifications: 50,
};

/** Members; the first one reads. */
const MEMBERS = 50;

const OURS = 'this service';
const BARE = 'bare Koa route';

const FEW_ARTICLES = 'GET /community/list/recent among 100';
const MANY_ARTICLES = 'GET /community/list/recent among 100,000';
const ROOM_COUNTS = [10, 100, 1_000];
const roomsPart = (rooms: number) => `GET /chatroom of ${rooms.toLocaleString('en')}`;

interface Read {
  part: string;
  /** Requested in turn. */
  paths: string[];
  counts?: Partial<ContentCounts>;
}

const numbered = (path: string, first: number, count: number) =>
  Array.from({ length: count }, (_, i) => `${path}/${first + i}`);

const reads: Read[] = [
  { part: FEW_ARTICLES, paths: ['/community/list/recent'], counts: { articles: 100 } },
  { part: MANY_ARTICLES, paths: ['/community/list/recent'], counts: { articles: 100_000 } },
  { part: 'GET /community/article/:id', paths: numbered('/community/article', 1, 50) },
  { part: `GET /community/comment/:id, ${COUNTS.comments} comments`, paths: ['/community/comment/1'] },
  ...ROOM_COUNTS.map((rooms) => ({ part: roomsPart(rooms), paths: ['/chatroom'], counts: { rooms } })),
  { part: `GET /chatroom/:no, ${COUNTS.messagesPerRoom} messages`, paths: numbered('/chatroom', 2, 10) },
  { part: `GET /adopt/render, ${COUNTS.posts} posts`, paths: ['/adopt/render'] },
  { part: `GET /notification/all, ${COUNTS.notifications}`, paths: ['/notification/all'] },
];

async function measure({ paths, counts }: Read, name: string, { group, options }: Run): Promise<Figures> {
  const database = await startDatabase(group);
  const [reader] = await seedChat(database.uri, 1, { extra: MEMBERS - 2 });
  await seedContent(database.uri, MEMBERS, { ...COUNTS, ...counts });
  const server =
    name === BARE
      ? await group.start('servers/koa-routes', { args: [database.uri], measured: true })
      : await startService(group, database.uri).then(({ process, httpPort: port }) => ({ process, port }));
  const { process: client } = await group.start('clients/http-worker');
  const command: Omit<HttpCommand, 'seconds'> = {
    ...{ host: HOST, port: server.port, paths, token: reader?.token },
    connections: CONNECTIONS,
  };
  const measured = { pids: [server.process.pid], databasePid: database.pid };
  const warmUpSeconds = WARM_UP_SECONDS;
  return measureWork(options, measured, client, command, { warmUpSeconds, clientPids: [client.pid] });
}

/** CPU of the service and its database per request. */
function totalCpu(results: Result[], part: string): Value {
  const both = (['cpu', 'databaseCpu'] as const).map((metric) => medianOf(results, OURS, metric, part));
  return combine(both, (...costs) => sum(costs));
}

export const http: Scenario = {
  name: 'http',
  title:
    'Documented reads, 16 at a time as fast as they are answered, each compared with a bare Koa route and the same query',
  columns: ['cpu', 'databaseCpu', 'delivered', 'lost', 'perSecond', 'p50', 'p99', 'p999', 'clients'],
  heeds: [],

  contenders: () =>
    reads.flatMap((read): Contender[] => [
      {
        name: OURS,
        role: 'ours',
        part: read.part,
        throughput: true,
        measure: (run) => measure(read, OURS, run),
      },
      {
        name: BARE,
        role: 'limit',
        part: read.part,
        throughput: true,
        measure: (run) => measure(read, BARE, run),
      },
    ]),

  verdicts(results) {
    const perRoom = (rooms: number) => ratio(totalCpu(results, roomsPart(rooms)), rooms);
    return [
      ...reads.map(({ part }) =>
        atLeast(
          `${part}: requests per CPU second of the server, against the bare route`,
          ratio(medianOf(results, BARE, 'cpu', part), medianOf(results, OURS, 'cpu', part)),
          0.75,
        ),
      ),
      atMost(
        'article list among 100,000 against among 100, server and database',
        ratio(totalCpu(results, MANY_ARTICLES), totalCpu(results, FEW_ARTICLES)),
        1.3,
      ),
      atMost(
        'room list, cost per listed room among 1,000 against among 10, server and database',
        ratio(perRoom(1_000), perRoom(10)),
        1.15,
      ),
    ];
  },
};
