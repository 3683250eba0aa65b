import { openRoom } from '../../run-accounts/rooms.js';
import type { ConnectionSpec, Target } from '../clients/connection.js';
import type { OpenResult } from '../clients/connection-worker.js';
import { startWorkerPool, type WorkerPool } from '../clients/worker-pool.js';
import { HOST, SECRET } from '../installation.js';
import { sum } from '../measure.js';
import type { Figures, Metric } from '../metrics.js';
import { FULL_SECONDS, isShort, type Lengths, type LoadOptions } from '../options.js';
import { openFiles } from '../process-figures.js';
import type { Result, Run, Scenario } from '../scenario.js';
import { tokensOf } from '../seed.js';
import { COLLECTS, SETTLING_SECONDS, settledMemory } from '../settled-memory.js';
import { type RunningServer, startOurs } from '../start-server.js';
import { atMost, combine, medianOf, onlyAt, onlyFrom, type Value } from '../verdict.js';

/** Connections of each kind that a cycle opens and closes, and new members of whom each opens a room. */
const SOCKETS = 400;
const STREAMS = 100;
const NEW_MEMBERS = 20;

/** Members come back with all messages of their room: what a cycle costs must not grow with the rooms. */
const SEEN_ALL = 1_000_000_000;

/** Messages of a cycle: how many a second, and their characters; for a second. */
const FLOW = { rate: 400, length: 100 };

/** Its duration, unless the options say otherwise; of a short run as much of it as of the default `--seconds`. */
const MINUTES = 10;

/** How long all rounds that count take, min. */
export const minutesOf = (options: Lengths & Pick<LoadOptions, 'minutes'>): number =>
  options.minutes ?? (isShort(options) ? (MINUTES * options.seconds) / FULL_SECONDS : MINUTES);

/** Fewest minutes that are judged: with fewer, rounds are shorter than one. */
const LEAST_MINUTES = 2;

/** Longest round, s: a minute, each of which is a figure. */
const ROUND_SECONDS = 60;

/**
 * As in production by default. With `bound`, a process remembers for half an hour which members it saw at which clients:
 * the memory of that would rise for as long.
 */
const ENV = { LEGACY_ANONYMOUS: 'off' };

const NAME = 'this service';

/** The author of the post that the database is seeded with, and that post. */
const SEEDED_AUTHOR = { no: 1, posts: [1] };

/**
 * New members open a room each about the seeded post, over REST.
 * @param after number of the last member before them
 * @returns two connections of each, both its joiner's
 */
async function openNewRooms(http: string, after: number): Promise<ConnectionSpec[]> {
  const tokens = await tokensOf(SECRET, NEW_MEMBERS, after);
  const opened = await Promise.all(
    tokens.map(async (token): Promise<ConnectionSpec[]> => {
      const room = (await openRoom(http, 'load', SEEDED_AUTHOR, { token }))?.room as number;
      return [
        { token, room },
        { token, room },
      ];
    }),
  );
  return opened.flat();
}

/** Opens and closes sockets and streams; new members come and open rooms. @returns how many connections there were */
async function cycle(
  { target, httpPort = 0, members }: RunningServer,
  pool: WorkerPool,
  specs: ConnectionSpec[],
  created: number,
  seconds: number,
): Promise<Omit<OpenResult, 'reason'>> {
  const streams: Target = { kind: 'stream', host: HOST, port: httpPort };
  const http = `http://${HOST}:${httpPort}`;
  const rooms = await openNewRooms(http, members.length + created);
  const listeners = specs.slice(0, STREAMS).map(({ token = '' }) => ({ token }));
  const opened = [await pool.open(target, [...specs, ...rooms]), await pool.open(streams, listeners)];
  await pool.flow({ ...FLOW, seconds });
  await pool.cut();
  const total = (name: 'opened' | 'failed' | 'repeated') => sum(opened.map((one) => one[name]));
  return { opened: total('opened'), failed: total('failed'), repeated: total('repeated') };
}

async function measure({ group, options }: Run): Promise<Figures[]> {
  const sockets = options.members ?? SOCKETS;
  const server = await startOurs(group, { rooms: Math.ceil(sockets / 2), execArgv: COLLECTS, env: ENV });
  const pool = await startWorkerPool(group, options.clients);
  const specs = server.members
    .slice(0, sockets)
    .map((spec, i) => ({ ...spec, sender: i % 2 === 0, after: SEEN_ALL }));
  const minutes = minutesOf(options);
  const rounds = Math.max(2, Math.round((minutes * 60) / ROUND_SECONDS));
  const roundMs = (minutes * 60_000) / rounds;
  const settling = Math.min(SETTLING_SECONDS, roundMs / 3_000);
  const figures: Figures[] = [];
  let created = 0;
  // The first round fills pools, and caches: what nobody uses leaves them after 75 s at most. It is not shown.
  for (let round = 0; round <= rounds; round += 1) {
    const total = { opened: 0, failed: 0, repeated: 0 };
    const end = performance.now() + roundMs;
    do {
      const { opened, failed, repeated } = await cycle(
        server,
        pool,
        specs,
        created,
        Math.min(1, options.seconds),
      );
      created += NEW_MEMBERS;
      total.opened += opened;
      total.failed += failed;
      total.repeated += repeated;
    } while (performance.now() < end);
    const memoryTotal = (await settledMemory(server, settling)) / 1024 ** 2;
    const handles = sum(server.pids.map(openFiles));
    const { opened, failed, repeated } = total;
    figures.push({ memoryTotal, handles, delivered: opened, lost: failed, repeated });
  }
  return figures.slice(1);
}

/** The lowest and the highest figure of all rounds, combined. */
function spread(results: Result[], metric: Metric, combineBoth: (min: number, max: number) => number): Value {
  const figure = results.find(({ name }) => name === NAME)?.figures[metric];
  return combine([medianOf(results, NAME, metric)], (median) =>
    combineBoth(figure?.min ?? median, figure?.max ?? median),
  );
}

export const soak: Scenario = {
  name: 'soak',
  title:
    'Sockets, streams, rooms and members come and go: memory and open files after each minute, all connections closed',
  columns: ['memoryTotal', 'handles', 'delivered', 'repeated', 'lost'],
  heeds: ['members', 'minutes'],
  runs: 1,
  // A round more than it counts.
  turnSeconds: (options) => minutesOf(options) * 60 + ROUND_SECONDS,

  contenders: () => [{ name: NAME, role: 'ours', part: 'churn', measure }],

  verdicts(results, options) {
    const verdicts = onlyAt(options, { members: SOCKETS }, [
      atMost(
        'memory, highest above lowest minute, %',
        spread(results, 'memoryTotal', (min, max) => (max / min - 1) * 100),
        5,
      ),
      atMost(
        'open files, highest minus lowest minute',
        spread(results, 'handles', (min, max) => max - min),
        5,
      ),
    ]);
    return onlyFrom(options, 'minutes', LEAST_MINUTES, verdicts);
  },
};
