import { setTimeout as sleep } from 'node:timers/promises';
import { seedChat } from '../chat-world.js';
import type { ConnectionSpec, Target } from '../clients/connection.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import { HOST, startDatabase, startService } from '../installation.js';
import type { Figures } from '../metrics.js';
import { atMost, type Contender, medianOf, type Run, type Scenario } from '../scenario.js';
import { local, ours, type SocketServer, startLocal } from '../socket-servers.js';
import { memoryOf, openWindow } from '../window.js';

const MEMBERS = 10_000;
const STREAMS = 2_000;

/** What makes a process collect its garbage when told to, so that memory is what is held. */
const COLLECTS = ['--import', new URL('../collect-on-signal.js', import.meta.url).href];

/**
 * Share of the connections that are opened and closed again before anything is read: what the first of
 * them leave behind, compiled code above all, is no part of what each one takes.
 */
const WARMING = 0.1;

/** Longest time, in s, until memory is read, and between two collections of garbage meanwhile. */
const SETTLING_SECONDS = 20;
const COLLECT_EVERY_MS = 1_000;

/** Memory has settled when so many collections have found less than this share of it. */
const SETTLED = 0.002;
const SETTLED_TIMES = 2;

/** Time, in s, in which V8 collects some more garbage of its own accord: part of the opening, not of being idle. */
const QUIET_SECONDS = 8;

/** Of the service's and the servers' pings, so that each connection is pinged once while CPU is counted. */
const PING_SECONDS = 20;

const SOCKETS = 'sockets, authenticated and joined';
const EVENT_STREAMS = 'event streams';

interface Idle {
  target: Target;
  pids: number[];
  lines: ConnectionSpec[];
}

/** Memory of a server, in bytes, once its garbage is collected and no more comes up. */
async function held(idle: Idle, seconds: number): Promise<number> {
  let memory = memoryOf(idle);
  let still = 0;
  for (let left = seconds; left > 0 && still < SETTLED_TIMES; left -= 1) {
    for (const pid of idle.pids) process.kill(pid, 'SIGUSR2');
    await sleep(COLLECT_EVERY_MS);
    const before = memory;
    memory = memoryOf(idle);
    still = Math.abs(before - memory) < before * SETTLED ? still + 1 : 0;
  }
  return memory;
}

/** Opens connections and reads what each takes: memory once garbage is collected, and CPU while nothing happens. */
async function measure(run: Run, start: () => Promise<Idle>): Promise<Figures> {
  const { stage, options } = run;
  const idle = await start();
  const crew = await startWorkerPool(stage, options.clients);
  const settling = Math.min(SETTLING_SECONDS, options.seconds * 3);

  await crew.open(idle.target, idle.lines.slice(0, Math.ceil(idle.lines.length * WARMING)));
  await crew.cut();
  const before = await held(idle, settling);
  await crew.forget();
  const opening = performance.now();
  const { opened, failed, reason } = await crew.open(idle.target, idle.lines);
  if (opened === 0) throw new Error(`no connection was opened: ${reason}`);
  const duration = (performance.now() - opening) / 1_000;
  const memory = ((await held(idle, settling)) - before) / opened / 1_024;
  await sleep(Math.min(QUIET_SECONDS, options.seconds) * 1_000);
  const close = openWindow(idle, crew);
  await sleep(Math.min(PING_SECONDS, options.seconds * 3) * 1_000);
  const { cpu = 0, seconds } = close();
  const { closed } = await crew.read();
  // CPU per connection and second.
  return { memory, delivered: opened, lost: failed + closed, duration, cpu: cpu / seconds / opened };
}

function sockets(server: SocketServer): Contender {
  return {
    name: server.name,
    role: server.role,
    part: SOCKETS,
    measure: (run) =>
      measure(run, async () => {
        const members = run.options.members ?? MEMBERS;
        const rooms = Math.ceil(members / 2);
        const { target, pids, world } = await server.start(run, rooms);
        const lines = Array.from({ length: members }, (_, i): ConnectionSpec => {
          const room = world?.rooms[i >> 1];
          return { room: room?.no ?? (i >> 1) + 1, ...(room ? { token: room.tokens[i & 1] as string } : {}) };
        });
        return { target, pids, lines };
      }),
  };
}

const ourStreams: Contender = {
  name: ours().name,
  role: 'ours',
  part: EVENT_STREAMS,
  measure: (run) =>
    measure(run, async () => {
      const streams = run.options.streams ?? STREAMS;
      const database = await startDatabase(run.stage);
      const { tokens } = await seedChat(database.uri, 0, { extra: streams });
      const { actor, httpPort } = await startService(run.stage, database.uri, COLLECTS);
      const lines = tokens.map((token): ConnectionSpec => ({ token }));
      return { target: { kind: 'stream', host: HOST, port: httpPort }, pids: [actor.pid], lines };
    }),
};

const bareStreams: Contender = {
  name: 'bare node response',
  role: 'limit',
  part: EVENT_STREAMS,
  measure: (run) =>
    measure(run, async () => {
      const { actor, port } = await startLocal(run.stage, 'event-stream', [], COLLECTS);
      const lines = Array.from({ length: run.options.streams ?? STREAMS }, (): ConnectionSpec => ({}));
      return { target: { kind: 'stream', host: HOST, port }, pids: [actor.pid], lines };
    }),
};

export const idle: Scenario = {
  name: 'idle',
  title: 'Memory per open connection; CPU µs per connection and second while nothing happens',
  columns: ['memory', 'cpu', 'delivered', 'lost', 'duration'],

  contenders: () => [
    sockets(ours(COLLECTS)),
    sockets(local('bare Socket.IO on uWS', 'limit', 'socketio', ['uws'], false, COLLECTS)),
    sockets(local('Socket.IO on ws', 'peer', 'socketio', ['ws'], false, COLLECTS)),
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
