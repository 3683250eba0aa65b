import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkerPool } from '../clients/worker-pool.js';
import { residentOf, startMeasuring, sum } from '../measure.js';
import type { Figures } from '../metrics.js';
import type { ProcessGroup } from '../process-group.js';
import type { Contender, Role, Run, Scenario } from '../scenario.js';
import { COLLECTS, SETTLING_SECONDS, settledMemory } from '../settled-memory.js';
import {
  ours,
  type RunningServer,
  type Server,
  socketIoOnUws,
  socketIoOnWs,
  startBareStreams,
  startOurs,
} from '../start-server.js';
import { atMost, medianOf, onlyAt, onlyFrom, ratio } from '../verdict.js';

const MEMBERS = 10_000;
const STREAMS = 2_000;

/**
 * Share of the connections that are opened and closed before the first measurement, so that compiled code and
 * other effects of the first connections are not counted.
 */
const WARM_UP_SHARE = 0.1;

/** Time in which V8 collects garbage of the opening, s; not counted as idle. */
const QUIET_SECONDS = 8;

/**
 * Time after which the service has dropped what it kept of members who connected, s: their tokens, names and rooms (operations.md,
 * "Sizing"). Peers keep nothing of the kind.
 */
const EXPIRED_SECONDS = 80;

/** How much of that time is waited for each of `--seconds`, s, and from how many of them memory is judged. */
const EXPIRED_EACH = 10;
const LEAST_SECONDS = EXPIRED_SECONDS / EXPIRED_EACH;

/** As in production by default, and in `soak`: with `bound`, a process remembers for half an hour which members it saw at which clients. */
const ENV = { LEGACY_ANONYMOUS: 'off' };

/** Ping interval of the service and of the servers, s: each connection is pinged once while CPU is measured. */
const PING_SECONDS = 20;

const SOCKETS = 'sockets, authenticated and joined';
const EVENT_STREAMS = 'event streams';

/** Opens connections and measures memory per connection, and CPU per connection and second while they are idle. */
async function measure(
  { group, options }: Run,
  server: RunningServer,
  role: Role,
  specs = server.members,
): Promise<Figures> {
  const pool = await startWorkerPool(group, options.clients);
  const settling = Math.min(SETTLING_SECONDS, options.seconds * 3);
  const idleMemory = async () => {
    if (role === 'ours') await sleep(Math.min(EXPIRED_SECONDS, options.seconds * EXPIRED_EACH) * 1_000);
    return { own: await settledMemory(server, settling), resident: residentOf(server) };
  };

  await pool.open(server.target, specs.slice(0, Math.ceil(specs.length * WARM_UP_SHARE)));
  await pool.cut();
  const before = await idleMemory();
  await pool.reset();
  const start = performance.now();
  const { opened, failed, reason } = await pool.open(server.target, specs);
  if (opened === 0) throw new Error(`no connection was opened: ${reason}`);
  const duration = (performance.now() - start) / 1_000;
  const after = await idleMemory();
  await sleep(Math.min(QUIET_SECONDS, options.seconds) * 1_000);
  const stop = startMeasuring(server);
  await sleep(Math.min(PING_SECONDS, options.seconds * 3) * 1_000);
  const usage = stop();
  const { others, steal } = usage;
  const { closed } = await pool.read();
  const each = (bytes: number) => bytes / opened / 1_024;
  return {
    ...{ others, steal, duration, delivered: opened, lost: failed + closed },
    memory: each(after.own - before.own),
    resident: each(after.resident - before.resident),
    cpu: sum(usage.cpus) / usage.seconds / opened,
  };
}

const sockets = (server: Server): Contender => ({
  ...server,
  part: SOCKETS,
  async measure(run) {
    const members = run.options.members ?? MEMBERS;
    const running = await server.start(run, Math.ceil(members / 2));
    return measure(run, running, server.role, running.members.slice(0, members));
  },
});

/** @param start starts a server for `count` streams */
const streams = (
  name: string,
  role: Role,
  start: (group: ProcessGroup, count: number) => Promise<RunningServer>,
): Contender => ({
  ...{ name, role, part: EVENT_STREAMS },
  measure: async (run) => measure(run, await start(run.group, run.options.streams ?? STREAMS), role),
});

export const idle: Scenario = {
  name: 'idle',
  title: 'Memory per open connection; CPU µs per connection and second while nothing happens',
  columns: ['memory', 'resident', 'cpu', 'delivered', 'lost', 'duration'],
  heeds: ['members', 'streams'],
  // Of the service twice as long, of the others half.
  turnSeconds: ({ seconds }) => 50 + 1.5 * Math.min(EXPIRED_SECONDS, seconds * EXPIRED_EACH),

  contenders: () => [
    sockets(ours({ execArgv: COLLECTS, env: ENV })),
    sockets(ours({ execArgv: COLLECTS, env: ENV, engine: 'ws' })),
    sockets(socketIoOnUws(COLLECTS)),
    sockets(socketIoOnWs(COLLECTS)),
    streams(ours().name, 'ours', (group, count) =>
      startOurs(group, { extra: count, kind: 'stream', execArgv: COLLECTS, env: ENV }),
    ),
    streams('bare node response', 'limit', (group, count) => startBareStreams(group, count, COLLECTS)),
  ],

  verdicts(results, options) {
    const ofSocket = (metric: 'memory' | 'resident') =>
      ratio(
        medianOf(results, ours().name, metric, SOCKETS),
        medianOf(results, socketIoOnUws().name, metric, SOCKETS),
      );
    return onlyFrom(options, 'seconds', LEAST_SECONDS, [
      ...onlyAt(options, { members: MEMBERS }, [
        atMost('private memory per socket, against bare Socket.IO on uWS', ofSocket('memory'), 1.15),
        atMost('resident memory per socket, against bare Socket.IO on uWS', ofSocket('resident'), 1.15),
      ]),
      ...onlyAt(options, { streams: STREAMS }, [
        atMost('KiB per open event stream', medianOf(results, ours().name, 'memory', EVENT_STREAMS), 10),
      ]),
    ]);
  },
};
