import type { Histogram } from 'hdr-histogram-js';
import type { HttpCommand } from '../clients/http-worker.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import { HOST, startDatabase, startService } from '../installation.js';
import { merge, percentiles } from '../latency.js';
import { startMeasuring, type WorkResult } from '../measure.js';
import type { Figures, Metric } from '../metrics.js';
import { atLeast, atMost, type Contender, medianOf, type Run, ratio, type Scenario } from '../scenario.js';
import { seedChat, seedContent } from '../seed.js';
import { startOurs } from '../start-server.js';

/** Connections that carry the requests, and rooms whose members send: enough that none waits for its last answer. */
const CONNECTIONS = 256;
const ROOMS = 500;

/** Requests and messages at the same time while it is measured what the process carries. */
const AT_ONCE = 32;

/** Connections opened at the same time: more would be refused in part. */
const FEW = 8;

/** Members of the rooms without a sender, articles. */
const MEMBERS = 50;
const CONTENT = { articles: 100, comments: 0, posts: 0, rooms: 0, messagesPerRoom: 0, notifications: 0 };

/** Characters of a message. */
const LENGTH = 100;

const WARM_UP_SECONDS = 4;

const PATH = '/community/list/recent';
const READS = `GET ${PATH}`;
const MESSAGES = 'message:send';

const HALF = 'half of what it carries';
const TWICE = 'twice as much';
const AFTER = 'half again, after that';
const UNSHED = 'twice as much, nothing refused';

/** Load, as a multiple of what the process carries, in steps; the last one, four times as long, is measured. */
const STEPS: Record<string, number[]> = {
  [HALF]: [0.5],
  [TWICE]: [0.5, 1, 1.5, 2],
  [AFTER]: [1, 2, 0.5, 0.5],
  [UNSHED]: [0.5, 1, 1.5, 2],
};

/** What became of the requests or messages of some seconds. */
interface Answers {
  served: number;
  refused: number;
  /** Without an answer, or with another one. */
  failed: number;
  /** Of those served. */
  times: Histogram;
}

/** A service under load. */
interface Loaded {
  pids: number[];
  clientPids: number[];
  /** @param rate per second; without it, as fast as answered, `AT_ONCE` at a time */
  offer(seconds: number, rate?: number): Promise<Answers>;
}

type StartLoaded = (run: Run, env: Record<string, string>) => Promise<Loaded>;

const loadReads: StartLoaded = async ({ group }, env) => {
  const database = await startDatabase(group);
  await seedChat(database.uri, 1, { extra: MEMBERS });
  await seedContent(database.uri, MEMBERS, CONTENT);
  const { process, httpPort: port } = await startService(group, database.uri, { env });
  const { process: client } = await group.start('clients/http-worker');
  return {
    pids: [process.pid],
    clientPids: [client.pid],
    async offer(seconds, rate) {
      const command: HttpCommand = {
        ...{ host: HOST, port, paths: [PATH], token: undefined, seconds },
        ...(rate === undefined ? { connections: AT_ONCE } : { connections: CONNECTIONS, rate }),
      };
      const {
        operations,
        refused = 0,
        failed = 0,
        times,
      } = await client.request<WorkResult>(command, seconds);
      return { served: operations, refused, failed, times: merge(times ? [times] : []) };
    },
  };
};

const loadMessages: StartLoaded = async ({ group, options }, env) => {
  const { target, pids, members } = await startOurs(group, { rooms: options.rooms ?? ROOMS, env });
  const [few, all] = [await startWorkerPool(group, 1), await startWorkerPool(group, options.clients)];
  const specs = members.map((member, i) => ({ ...member, sender: i % 2 === 0 }));
  await few.open(target, specs.slice(0, AT_ONCE * 2), { concurrency: FEW });
  await all.open(target, specs, { concurrency: FEW });
  return {
    pids,
    clientPids: all.pids,
    async offer(seconds, rate) {
      const pool = rate === undefined ? few : all;
      await pool.reset();
      await pool.flow({ seconds, length: LENGTH, ...(rate === undefined ? {} : { rate }) });
      const { sent, acked, refused, ackTimes } = await pool.read();
      return { served: acked, refused, failed: sent - acked - refused, times: ackTimes };
    },
  };
};

async function measure(start: StartLoaded, name: string, run: Run): Promise<Figures> {
  const { seconds } = run.options;
  const loaded = await start(run, { LOAD_SHEDDING: name === UNSHED ? 'off' : 'on' });
  await loaded.offer(Math.min(WARM_UP_SECONDS, seconds));
  const carried = (await loaded.offer(seconds / 2)).served / (seconds / 2);
  const steps = STEPS[name] ?? [];
  for (const share of steps.slice(0, -1)) await loaded.offer(seconds / 4, share * carried);
  const stop = startMeasuring(loaded, loaded.clientPids);
  const { served, refused, failed, times } = await loaded.offer(seconds, (steps.at(-1) ?? 1) * carried);
  const { clients } = stop();
  return {
    ...{ perSecond: served / seconds, delivered: served, refused, lost: failed, clients },
    ...percentiles(times),
  };
}

const kinds: [part: string, start: StartLoaded][] = [
  [READS, loadReads],
  [MESSAGES, loadMessages],
];

export const overload: Scenario = {
  name: 'overload',
  title:
    'More than the process carries: what is served, what is refused, and how long it takes until an answer is served',
  columns: ['perSecond', 'delivered', 'refused', 'lost', 'p50', 'p99', 'p999', 'clients'],

  contenders: () =>
    kinds.flatMap(([part, start]) =>
      Object.keys(STEPS).map(
        (name): Contender => ({
          ...{ name, part, role: name === UNSHED ? 'peer' : 'ours' },
          measure: (run) => measure(start, name, run),
        }),
      ),
    ),

  verdicts: (results) =>
    kinds.flatMap(([part]) => {
      const of = (name: string, metric: Metric) => medianOf(results, name, metric, part);
      const againstHalf = (name: string, metric: Metric) => ratio(of(name, metric), of(HALF, metric));
      return [
        atMost(
          `${part}: p99 of what is served of twice the load, against half`,
          againstHalf(TWICE, 'p99'),
          2,
        ),
        atLeast(`${part}: served of twice the load, against half`, againstHalf(TWICE, 'perSecond'), 1.4),
        atMost(`${part}: neither served nor refused`, of(TWICE, 'lost'), 0),
        atMost(`${part}: p99 after overload, against before`, againstHalf(AFTER, 'p99'), 1.5),
      ];
    }),
};
