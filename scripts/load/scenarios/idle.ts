import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionSpec } from '../clients/connection.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import { HOST, startDatabase, startServer, startService } from '../installation.js';
import { cpuOf, memoryOf, startMeasuring } from '../measure.js';
import type { Figures } from '../metrics.js';
import { atMost, type Contender, medianOf, type Run, type Scenario } from '../scenario.js';
import { seedChat } from '../seed-chat.js';
import {
  local,
  membersOf,
  ours,
  type RunningServer,
  type SocketServer,
  socketIoOnUws,
} from '../socket-servers.js';

const MEMBERS = 10_000;
const STREAMS = 2_000;

/** Lets the load test collect a process's garbage, so that only memory in use is measured. */
const COLLECTS = ['--import', new URL('../collect-on-signal.js', import.meta.url).href];

/**
 * Share of the connections that are opened and closed before the first measurement, so that compiled code and
 * other effects of the first connections are not counted.
 */
const WARM_UP_SHARE = 0.1;

/** Longest wait for memory to settle, s, and the interval of collections meanwhile, ms. */
const SETTLING_SECONDS = 20;
const COLLECT_EVERY_MS = 1_000;

/** Memory has settled when so many collections in a row changed less than this share of it. */
const SETTLED_SHARE = 0.002;
const SETTLED_TIMES = 2;

/** Time in which V8 collects garbage of the opening, s; not counted as idle. */
const QUIET_SECONDS = 8;

/** Ping interval of the service and of the servers, s: each connection is pinged once while CPU is measured. */
const PING_SECONDS = 20;

const SOCKETS = 'sockets, authenticated and joined';
const EVENT_STREAMS = 'event streams';

interface Idle extends Pick<RunningServer, 'target' | 'pids'> {
  specs: ConnectionSpec[];
}

/** Private memory in bytes once it has settled. */
async function settledMemory(idle: Idle, seconds: number): Promise<number> {
  let memory = memoryOf(idle);
  let settled = 0;
  for (let left = seconds; left > 0 && settled < SETTLED_TIMES; left -= 1) {
    for (const pid of idle.pids) process.kill(pid, 'SIGUSR2');
    await sleep(COLLECT_EVERY_MS);
    const before = memory;
    memory = memoryOf(idle);
    settled = Math.abs(before - memory) < before * SETTLED_SHARE ? settled + 1 : 0;
  }
  return memory;
}

/** Opens connections and measures memory per connection, and CPU per connection and second while they are idle. */
async function measure({ group, options }: Run, idle: Idle): Promise<Figures> {
  const pool = await startWorkerPool(group, options.clients);
  const settling = Math.min(SETTLING_SECONDS, options.seconds * 3);

  await pool.open(idle.target, idle.specs.slice(0, Math.ceil(idle.specs.length * WARM_UP_SHARE)));
  await pool.cut();
  const before = await settledMemory(idle, settling);
  await pool.reset();
  const start = performance.now();
  const { opened, failed, reason } = await pool.open(idle.target, idle.specs);
  if (opened === 0) throw new Error(`no connection was opened: ${reason}`);
  const duration = (performance.now() - start) / 1_000;
  const memory = ((await settledMemory(idle, settling)) - before) / opened / 1_024;
  await sleep(Math.min(QUIET_SECONDS, options.seconds) * 1_000);
  const stop = startMeasuring(idle, pool);
  await sleep(Math.min(PING_SECONDS, options.seconds * 3) * 1_000);
  const usage = stop();
  const { closed } = await pool.read();
  return {
    ...{ memory, duration, delivered: opened, lost: failed + closed },
    cpu: cpuOf(usage) / usage.seconds / opened,
  };
}

function sockets(server: SocketServer): Contender {
  const { name, role } = server;
  return {
    ...{ name, role, part: SOCKETS },
    async measure(run) {
      const members = run.options.members ?? MEMBERS;
      const running = await server.start(run, Math.ceil(members / 2));
      return measure(run, { ...running, specs: membersOf(running, members) });
    },
  };
}

const streamTarget = (port: number) => ({ kind: 'stream', host: HOST, port }) as const;

const ourStreams: Contender = {
  ...{ name: ours().name, role: 'ours', part: EVENT_STREAMS },
  async measure(run) {
    const database = await startDatabase(run.group);
    const { tokens } = await seedChat(database.uri, 0, { extra: run.options.streams ?? STREAMS });
    const { process, httpPort } = await startService(run.group, database.uri, COLLECTS);
    const specs = tokens.map((token) => ({ token }));
    return measure(run, { target: streamTarget(httpPort), pids: [process.pid], specs });
  },
};

const bareStreams: Contender = {
  ...{ name: 'bare node response', role: 'limit', part: EVENT_STREAMS },
  async measure(run) {
    const { process, port } = await startServer(run.group, 'event-stream', [], COLLECTS);
    const specs = Array.from({ length: run.options.streams ?? STREAMS }, () => ({}));
    return measure(run, { target: streamTarget(port), pids: [process.pid], specs });
  },
};

export const idle: Scenario = {
  name: 'idle',
  title: 'Memory per open connection; CPU µs per connection and second while nothing happens',
  columns: ['memory', 'cpu', 'delivered', 'lost', 'duration'],

  contenders: () => [
    sockets(ours({ execArgv: COLLECTS })),
    sockets(socketIoOnUws(COLLECTS)),
    sockets(local('Socket.IO on ws', 'peer', 'socketio', { args: ['ws'], execArgv: COLLECTS })),
    ourStreams,
    bareStreams,
  ],

  verdicts(results) {
    const memory = (part: string) => medianOf(results, ours().name, 'memory', part);
    return [
      atMost('KiB per authenticated, joined socket', memory(SOCKETS), 20),
      atMost('KiB per open event stream', memory(EVENT_STREAMS), 22),
    ];
  },
};
