import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionSpec } from '../clients/connection.js';
import { startWorkerPool, type WorkerPool } from '../clients/worker-pool.js';
import { HOST, settings, startDatabase, startServer, startService } from '../installation.js';
import { figuresOf, startMeasuring } from '../measure.js';
import type { Figures } from '../metrics.js';
import { cpuMicros } from '../process-figures.js';
import { atMost, type Contender, medianOf, type Run, ratio, type Scenario } from '../scenario.js';
import { seedChat } from '../seed-chat.js';
import { bareUws, type RunningServer } from '../socket-servers.js';
import { stampedText } from '../stamp.js';
import { median } from '../statistics.js';

const SOCKET_MEMBERS = 5_000;
const STREAMS = 2_000;

/** Most announcements in one measurement, and characters of each. */
const ANNOUNCEMENTS = 5;
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

/** Longest wait for deliveries after the announcement was written, ms. */
const DELIVERY_MS = 20_000;

/**
 * Longest pause of the limit before each announcement, ms. The service finds an announcement that long after the
 * one before, while others use the machine: neither may find its caches warm.
 */
const PAUSE_MS = 5_000;

const OURS = 'this service';
const SOCKETS = 'to sockets';
const EVENT_STREAMS = 'to event streams';
const BARE_RESPONSE = 'bare res.write';

/** A server, the connections that receive announcements, and how to announce. */
interface Audience extends Pick<RunningServer, 'target' | 'pids' | 'databasePid'> {
  specs: ConnectionSpec[];
  announce(content: string): Promise<void>;
  /** Time before each announcement, ms. */
  pauseMs?: number;
}

interface Sample {
  delivered: number;
  /** CPU of the server so far, µs. */
  cpu: number;
}

/** CPU per delivery in the samples around deliveries. @throws Error when there were none */
function cpuPerDelivery(samples: Sample[]): number {
  const change = (i: number, key: keyof Sample) => (samples[i]?.[key] ?? 0) - (samples[i - 1]?.[key] ?? 0);
  let [cpu, delivered] = [0, 0];
  for (let i = 1; i < samples.length; i += 1) {
    const near = Array.from({ length: BEFORE + AFTER + 1 }, (_, k) => Math.max(1, i - AFTER + k));
    if (near.some((k) => change(k, 'delivered') > 0)) cpu += change(i, 'cpu');
    delivered += change(i, 'delivered');
  }
  if (delivered === 0) throw new Error('an announcement reached nobody');
  return cpu / delivered;
}

/** Announces, and samples until everybody has received it: the service looks for announcements every few seconds. */
async function announceOnce(pool: WorkerPool, audience: Audience, n: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  async function sample(): Promise<void> {
    const delivered = await pool.delivered();
    samples.push({ delivered, cpu: audience.pids.reduce((sum, pid) => sum + cpuMicros(pid), 0) });
  }
  const received = () => (samples.at(-1) as Sample).delivered - (samples[0] as Sample).delivered;
  await sample();
  let deadline = Number.POSITIVE_INFINITY;
  const announced = audience.announce(stampedText(n, LENGTH)).finally(() => {
    deadline = performance.now() + DELIVERY_MS;
  });
  async function sampleDeliveries(): Promise<void> {
    for (await sample(); received() < audience.specs.length && performance.now() < deadline; await sample())
      await sleep(SAMPLE_MS);
  }
  await Promise.all([announced, sampleDeliveries()]);
  for (let i = 0; i <= AFTER; i += 1) {
    await sleep(SAMPLE_MS);
    await sample();
  }
  return samples;
}

async function measure({ group, options }: Run, audience: Audience): Promise<Figures> {
  const { target, specs, pauseMs = 0 } = audience;
  const pool = await startWorkerPool(group, options.clients);
  await pool.openAll(target, specs);
  const announceAfterPause = async (n: number) => {
    await sleep(Math.min(pauseMs, options.seconds * 1_000));
    return announceOnce(pool, audience, n);
  };
  await announceAfterPause(1);
  await pool.reset();
  const stop = startMeasuring(audience, pool);
  const costs: number[] = [];
  const times = Math.min(ANNOUNCEMENTS, Math.ceil(options.seconds));
  while (costs.length < times) costs.push(cpuPerDelivery(await announceAfterPause(2 + costs.length)));
  const usage = stop();
  const counts = await pool.read();
  const { perSecond: _, ...figures } = figuresOf(usage, counts.delivered, counts.deliveryTimes);
  return { ...figures, cpu: median(costs), lost: specs.length * times - counts.delivered };
}

const socketMembers = ({ options }: Run) => options.members ?? SOCKET_MEMBERS;
const streamMembers = ({ options }: Run) => options.streams ?? STREAMS;

/** The service, with `npm run announce` in another process. */
function service(part: string, kind: 'socketio' | 'stream', members: (run: Run) => number): Contender {
  return {
    ...{ name: OURS, role: 'ours', part },
    async measure(run) {
      const { group } = run;
      const database = await startDatabase(group);
      const { tokens } = await seedChat(database.uri, 0, { extra: members(run) });
      const { process, httpPort, gatewayPort } = await startService(group, database.uri);
      return measure(run, {
        target: { kind, host: HOST, port: kind === 'stream' ? httpPort : gatewayPort, event: 'notification' },
        pids: [process.pid],
        databasePid: database.pid,
        specs: tokens.map((token) => ({ token })),
        async announce(content) {
          const command = group.fork('announce', 'announce.js', {
            args: [content],
            env: settings(group, database.uri),
          });
          const [status] = await once(command.child, 'exit');
          if (status !== 0) throw new Error(`announce exited with ${status}: ${command.stderr}`);
        },
      });
    },
  };
}

/** One topic per socket, as each member's notification has its own number. */
const barePublish: Contender = {
  ...{ name: bareUws.name, role: 'limit', part: SOCKETS },
  async measure(run) {
    const { target, pids, announce } = await bareUws.start(run, 0);
    return measure(run, {
      target: { ...target, event: 'notification' },
      pids,
      specs: Array.from({ length: socketMembers(run) }, (_, i) => ({ room: i + 1 })),
      pauseMs: PAUSE_MS,
      announce: async (content) => announce?.(content),
    });
  },
};

const bareWrite: Contender = {
  ...{ name: BARE_RESPONSE, role: 'limit', part: EVENT_STREAMS },
  async measure(run) {
    const { process, port } = await startServer(run.group, 'event-stream');
    return measure(run, {
      target: { kind: 'stream', host: HOST, port },
      pids: [process.pid],
      specs: Array.from({ length: streamMembers(run) }, () => ({})),
      pauseMs: PAUSE_MS,
      announce: (content) => process.request({ content }),
    });
  },
};

export const announce: Scenario = {
  name: 'announce',
  title:
    'One announcement to every member, each with a record of their own; CPU while it arrives, without heartbeats; latency from the start of the command, which the service notices within 5 s',
  columns: ['cpu', 'delivered', 'lost', 'p50', 'p99', 'p999', 'databaseCpu', 'clients'],

  contenders: () => [
    service(SOCKETS, 'socketio', socketMembers),
    barePublish,
    service(EVENT_STREAMS, 'stream', streamMembers),
    bareWrite,
  ],

  verdicts(results) {
    const against = (limit: string, part: string) =>
      ratio(medianOf(results, OURS, 'cpu', part), medianOf(results, limit, 'cpu', part));
    return [
      atMost('CPU per socket delivery, against bare publish', against(bareUws.name, SOCKETS), 1.5),
      atMost('CPU per stream delivery, against bare res.write', against(BARE_RESPONSE, EVENT_STREAMS), 1.5),
    ];
  },
};
