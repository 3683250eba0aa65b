import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { seedChat } from '../chat-world.js';
import type { ConnectionSpec, Target } from '../clients/connection.js';
import { latenciesOf, startWorkerPool } from '../clients/worker-pool.js';
import { HOST, settings, startDatabase, startService } from '../installation.js';
import { percentiles } from '../latency.js';
import type { Figures } from '../metrics.js';
import { cpuOfAll } from '../process-figures.js';
import { atMost, type Contender, medianOf, type Run, ratio, type Scenario } from '../scenario.js';
import { bareUws, startLocal } from '../socket-servers.js';
import { stampedText } from '../stamp.js';
import { median } from '../statistics.js';
import { openWindow, usedPer } from '../window.js';

const SOCKET_MEMBERS = 5_000;
const STREAMS = 2_000;

/** Most announcements in one measurement. */
const ANNOUNCEMENTS = 5;

/**
 * How often, in ms, deliveries and CPU are read together. The heartbeats of thousands of connections cost as much
 * in the seconds between two announcements as an announcement: what counts is the CPU of the moments in which
 * deliveries arrive, and of the announcements the median, as heartbeats may fall into one.
 */
const MOMENT_MS = 100;

/** Moments before the first delivery, and after the last, that belong to it: reading, and what is left to write. */
const BEFORE = 3;
const AFTER = 1;

const SOCKETS = 'to sockets';
const EVENT_STREAMS = 'to event streams';
const BARE_RESPONSE = 'bare res.write';

/** A server with those who listen to it, and how everybody is told something. */
interface Audience {
  target: Target;
  pids: number[];
  databasePid?: number;
  lines: ConnectionSpec[];
  announce(content: string): Promise<void>;
  /** Time, in ms, before each announcement. */
  pauseMs?: number;
}

/**
 * How long, in ms, the limit has nothing to do, at most, before it tells everybody. The service hears of an announcement
 * that long after the last one, while others use the machine: neither shall find its caches as it left them.
 */
const PAUSE_MS = 5_000;

interface Moment {
  delivered: number;
  /** CPU of the server so far, in µs. */
  cpu: number;
}

/**
 * @returns CPU per delivery of the moments around those in which deliveries arrived
 * @throws Error when there were none
 */
function cpuPerDelivery(moments: Moment[]): number {
  const moved = (i: number) => (moments[i]?.delivered ?? 0) > (moments[i - 1]?.delivered ?? 0);
  let cpu = 0;
  for (let i = 1; i < moments.length; i += 1) {
    const near = Array.from({ length: BEFORE + AFTER + 1 }, (_, k) => Math.max(1, i - AFTER + k));
    if (near.some(moved)) cpu += (moments[i]?.cpu ?? 0) - (moments[i - 1]?.cpu ?? 0);
  }
  const delivered = (moments.at(-1)?.delivered ?? 0) - (moments[0]?.delivered ?? 0);
  if (delivered === 0) throw new Error('an announcement has reached nobody');
  return cpu / delivered;
}

async function measure(run: Run, start: () => Promise<Audience>): Promise<Figures> {
  const { stage, options } = run;
  const audience = await start();
  const { target, lines, announce, pauseMs = 0 } = audience;
  const times = Math.min(ANNOUNCEMENTS, Math.ceil(options.seconds));
  const crew = await startWorkerPool(stage, options.clients);
  const { failed, reason } = await crew.open(target, lines);
  if (failed > 0) throw new Error(`${failed} connections failed: ${reason}`);

  /** Announces, and waits: what another process has written is looked for every few seconds. */
  async function tellAll(n: number): Promise<Moment[]> {
    const moments: Moment[] = [];
    const look = async () => {
      const { delivered } = await crew.read();
      moments.push({ delivered, cpu: cpuOfAll(audience.pids) });
      return delivered - (moments[0]?.delivered ?? 0);
    };
    await sleep(Math.min(pauseMs, options.seconds * 1_000));
    await look();
    let deadline = Number.POSITIVE_INFINITY;
    const told = announce(stampedText(n, 80)).finally(() => {
      deadline = performance.now() + 20_000;
    });
    const arrived = async () => {
      while ((await look()) < lines.length && performance.now() < deadline) await sleep(MOMENT_MS);
    };
    await Promise.all([told, arrived()]);
    for (let i = 0; i <= AFTER; i += 1) {
      await sleep(MOMENT_MS);
      await look();
    }
    return moments;
  }
  await tellAll(1);
  await crew.forget();
  const close = openWindow(audience, crew);
  const costs: number[] = [];
  for (let i = 0; i < times; i += 1) costs.push(cpuPerDelivery(await tellAll(2 + i)));
  const used = close();
  const tally = await crew.read();
  return {
    ...usedPer(used, tally.delivered),
    cpu: median(costs),
    delivered: tally.delivered,
    lost: lines.length * times - tally.delivered,
    ...percentiles(latenciesOf(tally).deliveries),
  };
}

/** The service, and `npm run announce` beside it. */
async function ourAudience({ stage }: Run, members: number, kind: 'socketio' | 'stream'): Promise<Audience> {
  const database = await startDatabase(stage);
  const { tokens } = await seedChat(database.uri, 0, { extra: members });
  const { actor, httpPort, gatewayPort } = await startService(stage, database.uri);
  return {
    target: {
      kind,
      host: HOST,
      port: kind === 'stream' ? httpPort : gatewayPort,
      event: 'notification',
    },
    pids: [actor.pid],
    databasePid: database.pid,
    lines: tokens.map((token): ConnectionSpec => ({ token })),
    async announce(content) {
      const command = stage.fork('announce', 'announce.js', {
        args: [content],
        env: settings(stage, database.uri),
      });
      const [status] = (await once(command.child, 'exit')) as [number | null];
      if (status !== 0) throw new Error(`announce ended with ${status}: ${command.stderr()}`);
    },
  };
}

function service(part: string, kind: 'socketio' | 'stream', members: (run: Run) => number): Contender {
  return {
    name: 'this service',
    role: 'ours',
    part,
    measure: (run) => measure(run, () => ourAudience(run, members(run), kind)),
  };
}

const socketMembers = ({ options }: Run) => options.members ?? SOCKET_MEMBERS;
const streamMembers = ({ options }: Run) => options.streams ?? STREAMS;

/** A topic for each, as each member's notification has a number of its own. */
const barePublish: Contender = {
  name: bareUws().name,
  role: 'limit',
  part: SOCKETS,
  measure: (run) =>
    measure(run, async () => {
      const { target, pids, announce } = await bareUws().start(run, 0);
      return {
        target: { ...target, event: 'notification' },
        pids,
        lines: Array.from({ length: socketMembers(run) }, (_, i): ConnectionSpec => ({ room: i + 1 })),
        pauseMs: PAUSE_MS,
        announce: async (content) => announce?.(1, content),
      };
    }),
};

const bareWrite: Contender = {
  name: BARE_RESPONSE,
  role: 'limit',
  part: EVENT_STREAMS,
  measure: (run) =>
    measure(run, async () => {
      const { actor, port } = await startLocal(run.stage, 'event-stream');
      return {
        target: { kind: 'stream', host: HOST, port },
        pids: [actor.pid],
        lines: Array.from({ length: streamMembers(run) }, (): ConnectionSpec => ({})),
        pauseMs: PAUSE_MS,
        announce: async (content) => {
          actor.child.send({ announce: 1, content });
        },
      };
    }),
};

export const announce: Scenario = {
  name: 'announce',
  title:
    'One announcement to every member, each with a record of their own; CPU of the moments in which it arrives, without heartbeats; latency from the command’s begin, which the service hears of within 5 s',
  columns: ['cpu', 'delivered', 'lost', 'p50', 'p99', 'p999', 'databaseCpu', 'clients'],

  contenders: () => [
    service(SOCKETS, 'socketio', socketMembers),
    barePublish,
    service(EVENT_STREAMS, 'stream', streamMembers),
    bareWrite,
  ],

  verdicts(results) {
    const cpu = (name: string, part: string) => medianOf(results, name, 'cpu', part);
    const mine = 'this service';
    return [
      atMost(
        'CPU per socket delivery, against bare publish',
        ratio(cpu(mine, SOCKETS), cpu(barePublish.name, SOCKETS)),
        1.5,
      ),
      atMost(
        'CPU per stream delivery, against bare res.write',
        ratio(cpu(mine, EVENT_STREAMS), cpu(BARE_RESPONSE, EVENT_STREAMS)),
        1.5,
      ),
    ];
  },
};
