import type { Histogram } from 'hdr-histogram-js';
import type { HttpCommand, HttpResult } from '../clients/http-worker.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import { HOST, startDatabase, startService } from '../installation.js';
import { merge, percentiles } from '../latency.js';
import { lateness, startMeasuring } from '../measure.js';
import type { Metric } from '../metrics.js';
import { isShort, type Lengths, type LoadOptions } from '../options.js';
import { ProcessGroup } from '../process-group.js';
import type { Contender, Measured, Run, Scenario } from '../scenario.js';
import { seedChat, seedContent } from '../seed.js';
import { startOurs } from '../start-server.js';
import { atLeast, atMost, medianOf, onlyAt, ratio } from '../verdict.js';
import { preparationFor } from '../warm-up.js';

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

/** Least length of a measurement, s, unless the run is short: the limit on work under way takes about a second to fit the load. */
const LEAST_SECONDS = 8;

/** How long the load of a line is measured, s. @param name of the line */
export function lengthOf(options: Lengths & Pick<LoadOptions, 'minutes'>, name = HALF): number {
  const { seconds, minutes } = options;
  if (name === TWICE && minutes !== undefined) return minutes * 60;
  return Math.max(seconds, isShort(options) ? 0 : LEAST_SECONDS);
}

const PATH = '/community/list/recent';
const READS = `GET ${PATH}`;
const MESSAGES = 'message:send';

const HALF = 'half of what it carries';
const TWICE = 'twice as much';
const AFTER = 'half again, after that';
const UNSHED = 'twice as much, nothing refused';

/**
 * Load, as a multiple of what the process carries, in steps; the last one, four times as long, is measured. With
 * `--minutes`, that of TWICE is as long.
 */
const STEPS: Record<string, number[]> = {
  [HALF]: [0.5],
  [TWICE]: [0.5, 1, 1.5, 2],
  [AFTER]: [1, 2, 0.5, 0.5],
  [UNSHED]: [0.5, 1, 1.5, 2],
};

/** What became of an offered load. */
interface Offered {
  served: number;
  refused: number;
  /** Without an answer, or with another one. */
  failed: number;
  /** µs from when they were due, of those served. */
  times: Histogram;
  /** µs by which they were sent late. */
  late: Histogram;
}

/** A service under load. */
interface Loaded {
  pids: number[];
  clientPids: number[];
  /** Requests or messages as fast as they are answered, `AT_ONCE` at a time. @returns how many were served */
  exhaust(seconds: number): Promise<number>;
  /** @param rate per second, whatever the answers */
  offer(seconds: number, rate: number): Promise<Offered>;
}

type StartLoaded = (run: Run, env: Record<string, string>) => Promise<Loaded>;

const loadReads: StartLoaded = async ({ group }, env) => {
  const database = await startDatabase(group);
  await seedChat(database.uri, 1, { extra: MEMBERS });
  await seedContent(database.uri, MEMBERS, CONTENT);
  const { process, httpPort: port } = await startService(group, database.uri, { env });
  const { process: client } = await group.start('clients/http-worker');
  const request = (seconds: number, load: Pick<HttpCommand, 'connections' | 'rate'>) =>
    client.request<HttpResult>(
      { ...{ host: HOST, port, paths: [PATH], token: undefined, seconds }, ...load },
      seconds,
    );
  return {
    pids: [process.pid],
    clientPids: [client.pid],
    exhaust: async (seconds) => (await request(seconds, { connections: AT_ONCE })).operations,
    async offer(seconds, rate) {
      const result = await request(seconds, { connections: CONNECTIONS, rate });
      const { operations: served, refused, failed } = result;
      const [times, late] = [merge([result.times]), merge([result.late])];
      return { served, refused, failed: failed - refused, times, late };
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
    async exhaust(seconds) {
      await few.reset();
      await few.flow({ seconds, length: LENGTH });
      return (await few.read()).acked;
    },
    async offer(seconds, rate) {
      await all.reset();
      await all.flow({ seconds, length: LENGTH, rate });
      const { sent, acked: served, refused, ackTimes: times, late } = await all.read();
      return { served, refused, failed: sent - served - refused, times, late };
    },
  };
};

/** Measures what a process carries per second. It refuses nothing meanwhile. */
async function measureCarried(start: StartLoaded, { options }: Run): Promise<number> {
  const group = new ProcessGroup();
  try {
    const loaded = await start({ group, options }, { LOAD_SHEDDING: 'off' });
    await loaded.exhaust(preparationFor(options, WARM_UP_SECONDS));
    return (await loaded.exhaust(lengthOf(options))) / lengthOf(options);
  } finally {
    await group.end();
  }
}

async function measure(start: StartLoaded, name: string, run: Run, carried: number): Promise<Measured> {
  const seconds = lengthOf(run.options, name);
  const loaded = await start(run, { LOAD_SHEDDING: name === UNSHED ? 'off' : 'on' });
  await loaded.exhaust(preparationFor(run.options, WARM_UP_SECONDS));
  const steps = STEPS[name] ?? [];
  for (const share of steps.slice(0, -1)) await loaded.offer(lengthOf(run.options) / 4, share * carried);
  const stop = startMeasuring(loaded, loaded.clientPids);
  const { served, refused, failed, times, late } = await loaded.offer(seconds, (steps.at(-1) ?? 1) * carried);
  const { clients, others, steal } = stop();
  return {
    ...{ served: served / seconds, delivered: served, refused, lost: failed, late: lateness(late) },
    ...{ clients, others, steal },
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
  columns: ['served', 'delivered', 'refused', 'lost', 'p50', 'p99', 'p999', 'late', 'clients'],
  heeds: ['rooms', 'minutes'],

  turnSeconds: (options) => 2 * lengthOf(options) + 12 + (options.minutes ?? 0) * 15,

  contenders: () =>
    kinds.flatMap(([part, start]) => {
      // Once for all lines and turns: they are compared.
      let carried: number | undefined;
      return Object.keys(STEPS).map(
        (name): Contender => ({
          ...{ name, part, role: name === UNSHED ? 'peer' : 'ours' },
          async measure(run) {
            carried ??= await measureCarried(start, run);
            return measure(start, name, run, carried);
          },
        }),
      );
    }),

  verdicts: (results, options) =>
    kinds.flatMap(([part]) => {
      const of = (name: string, metric: Metric) => medianOf(results, name, metric, part);
      const againstHalf = (name: string, metric: Metric) => ratio(of(name, metric), of(HALF, metric));
      return onlyAt(options, part === MESSAGES ? { rooms: ROOMS } : {}, [
        atMost(
          `${part}: p99 of what is served of twice the load, against half`,
          againstHalf(TWICE, 'p99'),
          2,
        ),
        atLeast(`${part}: served of twice the load, against half`, againstHalf(TWICE, 'served'), 1.4),
        atMost(`${part}: p99 after overload, against before`, againstHalf(AFTER, 'p99'), 1.5),
      ]);
    }),
};
