import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkerPool, type WorkerPool } from '../clients/worker-pool.js';
import { figuresOf, startMeasuring, sum } from '../measure.js';
import type { Figures } from '../metrics.js';
import { isShort, type Lengths } from '../options.js';
import { cpuMicros } from '../process-figures.js';
import type { Contender, Run, Scenario } from '../scenario.js';
import { stampedText } from '../stamp.js';
import { bareUws, type RunningServer, startBareStreams, startOurs } from '../start-server.js';
import { median } from '../statistics.js';
import { atMost, medianOf, onlyAt, ratio } from '../verdict.js';
import { preparationFor } from '../warm-up.js';

const SOCKET_MEMBERS = 5_000;
const STREAMS = 2_000;

/** Announcements in a measurement: enough that most have a share of the limit's garbage collection, which begins with the second or third. */
const TIMES = 5;

/** Announcements before a measurement, one right after another: code that is not compiled yet costs twice as much. */
const WARM_UPS = 8;

/** How many announcements come before a measurement, and in it: in a short run one for each of `--seconds`, of both. */
export function timesOf(options: Lengths): { warmUps: number; times: number } {
  const most = isShort(options) ? Math.ceil(options.seconds) : Number.POSITIVE_INFINITY;
  return { warmUps: Math.min(WARM_UPS, most), times: Math.min(TIMES, most) };
}

/** Characters of each. */
const LENGTH = 80;

/**
 * Interval at which deliveries and CPU are sampled, ms. In the seconds between two announcements the heartbeats of
 * thousands of connections cost as much as an announcement: only samples around deliveries count, and the median
 * of the announcements, as heartbeats may coincide with one.
 */
const SAMPLE_MS = 100;

/** Samples before the first delivery, for reading, and after the last one, for writing, that count as well. */
const BEFORE = 3;
const AFTER = 1;

/** Longest wait for deliveries after the last announcement was written, ms. */
const DELIVERY_MS = 20_000;

/**
 * Pause of the limit before each announcement, s. The service finds an announcement that long after
 * the previous one, while others use the machine: neither may have warm caches.
 */
const PAUSE_SECONDS = 5;

/** About how long it takes to start a server and to announce before the measurement, and for each announcement in it, s. */
const STARTING_SECONDS = 10;
const EACH_SECONDS = 5;

const OURS = 'this service';
const SOCKETS = 'to sockets';
const EVENT_STREAMS = 'to event streams';
const BARE_RESPONSE = 'bare res.write';

interface Sample {
  delivered: number;
  /** CPU of the server so far, µs. */
  cpu: number;
}

/** CPU per delivery in the samples around deliveries. @throws Error if there were none */
function cpuPerDelivery(samples: Sample[]): number {
  const change = (i: number, key: keyof Sample) => (samples[i]?.[key] ?? 0) - (samples[i - 1]?.[key] ?? 0);
  let cpu = 0;
  for (let i = 1; i < samples.length; i += 1) {
    const near = Array.from({ length: BEFORE + AFTER + 1 }, (_, k) => Math.max(1, i - AFTER + k));
    if (near.some((k) => change(k, 'delivered') > 0)) cpu += change(i, 'cpu');
  }
  const delivered = (samples.at(-1)?.delivered ?? 0) - (samples[0]?.delivered ?? 0);
  if (delivered === 0) throw new Error('an announcement reached nobody');
  return cpu / delivered;
}

/** Announces, once or more, and samples until everybody has received it all, which the service's poll delays by seconds. */
async function announceTo(pool: WorkerPool, server: RunningServer, times = 1): Promise<Sample[]> {
  const samples: Sample[] = [];
  async function sample(): Promise<void> {
    const delivered = await pool.delivered();
    samples.push({ delivered, cpu: sum(server.pids.map(cpuMicros)) });
  }
  const received = () => (samples.at(-1) as Sample).delivered - (samples[0] as Sample).delivered;
  await sample();
  let deadline = Number.POSITIVE_INFINITY;
  async function announceAll(): Promise<void> {
    try {
      for (let i = 0; i < times; i += 1) await server.announce?.(stampedText(LENGTH));
    } finally {
      deadline = performance.now() + DELIVERY_MS;
    }
  }
  async function sampleDeliveries(): Promise<void> {
    const expected = server.members.length * times;
    for (await sample(); received() < expected && performance.now() < deadline; await sample())
      await sleep(SAMPLE_MS);
  }
  await Promise.all([announceAll(), sampleDeliveries()]);
  for (let i = 0; i <= AFTER; i += 1) {
    await sleep(SAMPLE_MS);
    await sample();
  }
  return samples;
}

async function measure(
  { group, options }: Run,
  server: RunningServer,
  pauseSeconds: number,
): Promise<Figures> {
  const { target, members } = server;
  const pool = await startWorkerPool(group, options.clients);
  await pool.openAll({ ...target, event: 'notification' }, members);
  const announceAfterPause = async () => {
    await sleep(preparationFor(options, pauseSeconds) * 1_000);
    return announceTo(pool, server);
  };
  const { warmUps, times } = timesOf(options);
  await announceTo(pool, server, warmUps);
  await pool.reset();
  const stop = startMeasuring(server, pool.pids);
  const costs: number[] = [];
  while (costs.length < times) costs.push(cpuPerDelivery(await announceAfterPause()));
  const usage = stop();
  const counts = await pool.read();
  const { perSecond: _, ...figures } = figuresOf(usage, counts.delivered, counts.deliveryTimes);
  return { ...figures, cpu: median(costs), lost: members.length * times - counts.delivered };
}

function contender(
  { name, role, missing }: Pick<Contender, 'name' | 'role' | 'missing'>,
  part: string,
  start: (run: Run) => Promise<RunningServer>,
): Contender {
  const pauseSeconds = role === 'limit' ? PAUSE_SECONDS : 0;
  return { name, role, part, missing, measure: async (run) => measure(run, await start(run), pauseSeconds) };
}

const memberCount = ({ options }: Run) => options.members ?? SOCKET_MEMBERS;
const streamCount = ({ options }: Run) => options.streams ?? STREAMS;

/** One room per socket, as each member's notification has its own number. */
async function startBareUws(run: Run): Promise<RunningServer> {
  const running = await bareUws.start(run, memberCount(run));
  return { ...running, members: running.members.filter((_, i) => i % 2 === 0) };
}

export const announce: Scenario = {
  name: 'announce',
  title:
    'One announcement to every member, each with a record of their own; CPU while it arrives, without heartbeats; latency from the start of the command, which the service notices within 5 s',
  columns: ['cpu', 'delivered', 'lost', 'p50', 'p99', 'p999', 'databaseCpu', 'clients'],
  heeds: ['members', 'streams'],
  turnSeconds: (options) => STARTING_SECONDS + EACH_SECONDS * timesOf(options).times,

  contenders: () => [
    contender({ name: OURS, role: 'ours' }, SOCKETS, (run) =>
      startOurs(run.group, { extra: memberCount(run) }),
    ),
    contender(bareUws, SOCKETS, startBareUws),
    contender({ name: OURS, role: 'ours' }, EVENT_STREAMS, (run) =>
      startOurs(run.group, { extra: streamCount(run), kind: 'stream' }),
    ),
    contender({ name: BARE_RESPONSE, role: 'limit' }, EVENT_STREAMS, (run) =>
      startBareStreams(run.group, streamCount(run)),
    ),
  ],

  verdicts(results, options) {
    const against = (limit: string, part: string) =>
      ratio(medianOf(results, OURS, 'cpu', part), medianOf(results, limit, 'cpu', part));
    return [
      ...onlyAt(options, { members: SOCKET_MEMBERS }, [
        atMost('CPU per socket delivery, against bare publish', against(bareUws.name, SOCKETS), 1.5),
      ]),
      ...onlyAt(options, { streams: STREAMS }, [
        atMost('CPU per stream delivery, against bare res.write', against(BARE_RESPONSE, EVENT_STREAMS), 1.5),
      ]),
    ];
  },
};
