import { seedChat } from '../chat-world.js';
import type { ConnectionSpec } from '../clients/connection.js';
import { latenciesOf, startWorkerPool } from '../clients/worker-pool.js';
import { startDatabase } from '../installation.js';
import { merge, percentiles } from '../latency.js';
import type { Figures } from '../metrics.js';
import { elsewhere, type LoadOptions } from '../options.js';
import { messageOf } from '../process-group.js';
import { atLeast, atMost, type Contender, medianOf, type Run, ratio, type Scenario } from '../scenario.js';
import {
  bareUws,
  ours,
  type Served,
  type SocketServer,
  socketIoOnWs,
  startLocal,
} from '../socket-servers.js';
import { memoryOf, openWindow, usedPer } from '../window.js';

const ROOMS = 2_000;
const PACED = 2_000;
const LOW = 20;
const LENGTH = 100;
const WARM_UP_SECONDS = 3;

const UNBOUND = 'as fast as acks allow';
const ABSENT = 'one absent author, as fast as acks allow';
const partOf = (rate: number | undefined) =>
  rate === undefined ? UNBOUND : `${rate.toLocaleString('en')} messages/s`;

/** Both members of each room, of whom the first one sends; or the second one alone, who then sends. */
function linesOf({ world }: Served, rooms: number, creatorAway: boolean): ConnectionSpec[] {
  const creators: ConnectionSpec[] = [];
  const joiners: ConnectionSpec[] = [];
  for (let i = 0; i < rooms; i += 1) {
    const room = world?.rooms[i];
    const no = room?.no ?? i + 1;
    creators.push({ room: no, sender: true, ...(room ? { token: room.tokens[0] } : {}) });
    joiners.push({ room: no, sender: creatorAway, ...(room ? { token: room.tokens[1] } : {}) });
  }
  return creatorAway ? joiners : [...creators, ...joiners];
}

/** @param creatorAway whether one of the two is connected alone, and each message brings a notification */
async function measure(
  server: SocketServer,
  rate: number | undefined,
  run: Run,
  creatorAway = false,
): Promise<Figures> {
  const { stage, options } = run;
  const rooms = options.rooms ?? ROOMS;
  const served = await server.start(run, rooms);
  const crew = await startWorkerPool(stage, options.clients);
  const before = memoryOf(served);
  const lines = linesOf(served, rooms, creatorAway);
  const perMessage = lines.length / rooms;
  const opened = await crew.open(served.target, lines);
  if (opened.failed > 0) throw new Error(`${opened.failed} connections failed: ${opened.reason}`);
  const memory = memoryOf(served) - before;

  async function flow(seconds: number): Promise<void> {
    await crew.flow({ seconds, length: LENGTH, ...(rate === undefined ? {} : { rate }) });
    await crew.settle((await crew.read()).sent * perMessage);
  }
  await flow(Math.min(WARM_UP_SECONDS, options.seconds));
  await crew.forget();
  const close = openWindow(served, crew);
  await flow(options.seconds);
  const used = close();
  const tally = await crew.read();
  return {
    ...usedPer(used, tally.acked),
    delivered: tally.delivered,
    lost: tally.sent * perMessage - tally.delivered + (tally.sent - tally.acked),
    perSecond: tally.acked / used.seconds,
    ...percentiles(latenciesOf(tally).acks),
    ...(served.pids.length > 0 ? { memory: memory / lines.length / 1_024 } : {}),
  };
}

/** The driver alone: one insertOne for each message, at the same rate. */
async function measureDriver(rate: number, { stage, options }: Run): Promise<Figures> {
  const rooms = options.rooms ?? ROOMS;
  const database = await startDatabase(stage);
  await seedChat(database.uri, rooms);
  const { actor } = await startLocal(stage, 'driver-insert', [database.uri]);
  async function flow(seconds: number) {
    const done = messageOf<{ inserted: number; times: string; error?: string }>(
      actor,
      (m) => typeof (m as { inserted?: unknown }).inserted === 'number',
      seconds * 1_000 + 60_000,
    );
    actor.child.send({ rate, seconds, rooms });
    const { error, ...result } = await done;
    if (error !== undefined) throw new Error(error);
    return result;
  }
  await flow(Math.min(WARM_UP_SECONDS, options.seconds));
  const close = openWindow({ pids: [actor.pid], databasePid: database.pid });
  const { inserted, times } = await flow(options.seconds);
  const used = close();
  return {
    ...usedPer(used, inserted),
    delivered: inserted,
    lost: 0,
    perSecond: inserted / used.seconds,
    ...percentiles(merge([times])),
  };
}

function contender(server: SocketServer, rate?: number): Contender {
  const { name, role } = server;
  return { name, role, part: partOf(rate), measure: (run) => measure(server, rate, run) };
}

/** A viral post: everybody writes to the same member, who is not there. */
function oneAbsentAuthor(): Contender {
  const server = ours([], true);
  return {
    name: server.name,
    role: server.role,
    part: ABSENT,
    measure: (run) => measure(server, undefined, run, true),
  };
}

const DRIVER = 'bare driver, insertOne alone';

function driver(rate: number): Contender {
  return { name: DRIVER, role: 'limit', part: partOf(rate), measure: (run) => measureDriver(rate, run) };
}

export const chat: Scenario = {
  name: 'chat',
  title:
    'Two-party rooms: each message is stored, acknowledged and delivered twice; CPU per message, latency until acknowledged',
  columns: [
    'cpu',
    'delivered',
    'lost',
    'perSecond',
    'p50',
    'p99',
    'p999',
    'memory',
    'databaseCpu',
    'clients',
  ],

  contenders(options: LoadOptions) {
    const paced = options.rate ?? PACED;
    if (elsewhere(options)) return [contender(ours()), contender(ours(), paced)];
    return [
      ...[ours(), bareUws(true), socketIoOnWs(true)].map((server) => contender(server)),
      ...[ours(), bareUws(true), socketIoOnWs(true)].map((server) => contender(server, paced)),
      driver(paced),
      oneAbsentAuthor(),
      ...(options.rate === undefined ? [contender(ours(), LOW), driver(LOW)] : []),
    ];
  },

  verdicts(results, options) {
    const paced = partOf(options.rate ?? PACED);
    const cpu = (name: string) => medianOf(results, name, 'cpu', UNBOUND);
    const [mine, floor, textbook] = [ours(), bareUws(true), socketIoOnWs(true)].map(({ name }) => cpu(name));
    const p99 = (name: string) => medianOf(results, name, 'p99', paced);
    const p50 = (name: string) => medianOf(results, name, 'p50', partOf(LOW));
    return [
      atLeast("the textbook server's CPU per message, against ours", ratio(textbook, mine), 6),
      atMost('CPU per message, against the floor', ratio(mine, floor), 3.5),
      atMost("acknowledged p99, against the bare driver's", ratio(p99(ours().name), p99(DRIVER)), 4),
      ...(options.rate === undefined
        ? [
            atMost(
              "at low rate: acknowledged p50, against the bare driver's",
              ratio(p50(ours().name), p50(DRIVER)),
              4,
            ),
          ]
        : []),
    ];
  },
};
