import type { ConnectionSpec } from '../clients/connection.js';
import { latenciesOf, startWorkerPool } from '../clients/worker-pool.js';
import { percentiles } from '../latency.js';
import type { Figures } from '../metrics.js';
import { elsewhere, type LoadOptions } from '../options.js';
import { atLeast, atMost, type Contender, medianOf, type Run, ratio, type Scenario } from '../scenario.js';
import {
  bareUws,
  mosquitto,
  nchan,
  ours,
  plainWs,
  type SocketServer,
  socketIoOnWs,
} from '../socket-servers.js';
import { memoryOf, openWindow, usedPer } from '../window.js';

const SIZES = [100, 1_000, 10_000];

/** The size at which all contenders are compared. */
const COMPARED = 1_000;

/** Deliveries per second, unless --rate tells how many messages: the same for all sizes that allow it. */
const DELIVERIES_PER_SECOND = 100_000;

/** Most messages per second: those of one room are stored one after another. */
const MAX_RATE = 400;

/** How many messages come at the same moment where they come in bursts, each from a sender of its own. */
const BURST = 20;

/** Length of a message's text. */
const LENGTH = 100;
const WARM_UP_SECONDS = 2;

/** Connections of the two members of one room, some of which send. */
function linesOf(
  size: number,
  tokens: [string, string] | undefined,
  room: number,
  listens: boolean,
  senders: number,
): ConnectionSpec[] {
  const lines: ConnectionSpec[] = Array.from({ length: size }, (_, i) => ({
    room,
    ...(tokens ? { token: tokens[i % 2] as string } : {}),
  }));
  if (listens) for (const line of lines.slice(0, senders)) line.sender = true;
  else for (let i = 0; i < senders; i += 1) lines.push({ room, sender: true });
  return lines;
}

async function measure(server: SocketServer, size: number, burst: number, run: Run): Promise<Figures> {
  const { stage, options } = run;
  const served = await server.start(run, 1);
  const crew = await startWorkerPool(stage, options.clients);
  const before = memoryOf(served);
  const room = served.world?.rooms[0];
  const lines = linesOf(size, room?.tokens, room?.no ?? 1, served.senderListens, burst);
  const opened = await crew.open(served.target, lines);
  if (opened.failed > 0) throw new Error(`${opened.failed} connections failed: ${opened.reason}`);
  const memory = memoryOf(served) - before;
  const rate = options.rate ?? Math.min(MAX_RATE, DELIVERIES_PER_SECOND / size);

  async function flow(seconds: number): Promise<void> {
    await crew.flow({ seconds, rate, burst, length: LENGTH });
    await crew.settle(Math.round(rate * seconds) * size);
  }
  await flow(Math.min(WARM_UP_SECONDS, options.seconds));
  await crew.forget();
  const close = openWindow(served, crew);
  await flow(options.seconds);
  const used = close();
  const tally = await crew.read();
  return {
    ...usedPer(used, tally.delivered),
    ...(served.pids.length > 0 ? { memory: memory / size / 1_024 } : {}),
    delivered: tally.delivered,
    lost: tally.sent * size - tally.delivered,
    perSecond: tally.delivered / used.seconds,
    ...percentiles(latenciesOf(tally).deliveries),
  };
}

/** One by one, or in bursts. */
type Shape = 1 | typeof BURST;

const partOf = (size: number, shape: Shape = 1) =>
  `${size.toLocaleString('en')} sockets${shape === 1 ? '' : `, bursts of ${shape}`}`;

function contender(server: SocketServer, size: number, shape: Shape = 1): Contender {
  const { name, role, missing } = server;
  return {
    ...{ name, role, missing },
    part: partOf(size, shape),
    measure: (run) => measure(server, size, shape, run),
  };
}

/** All that can do the work, beside each other. */
function comparison(size: number, shape: Shape = 1): Contender[] {
  const all = [ours(), bareUws(), plainWs(), socketIoOnWs(), nchan(), mosquitto()];
  return all.map((server) => contender(server, size, shape));
}

export const fanout: Scenario = {
  name: 'fanout',
  title: 'One room, many sockets: every message is delivered to each of them, ours stored first',
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
    const sizes = options.members ? [options.members] : SIZES;
    const compared = options.members ?? COMPARED;
    if (elsewhere(options)) return sizes.map((size) => contender(ours(), size));
    return [
      ...sizes.flatMap((size) =>
        size === compared ? comparison(size) : [ours(), bareUws()].map((server) => contender(server, size)),
      ),
      ...comparison(compared, BURST),
    ];
  },

  verdicts(results, options) {
    const size = options.members ?? COMPARED;
    const cpu = (name: string, part = partOf(size)) => medianOf(results, name, 'cpu', part);
    const flat = SIZES.map((at) => cpu(ours().name, partOf(at))).filter((value) => value !== undefined);
    return [
      ...([1, BURST] as const).flatMap((shape) => {
        const part = partOf(size, shape);
        const [mine, limit, textbook, other] = [ours(), bareUws(), socketIoOnWs(), nchan()].map(({ name }) =>
          cpu(name, part),
        );
        return [
          atMost(`${part}: CPU per delivery, against bare uWebSockets.js`, ratio(mine, limit), 1.4),
          atLeast(`${part}: CPU per delivery of Socket.IO on ws, against ours`, ratio(textbook, mine), 4),
          atLeast(`${part}: CPU per delivery of nchan, against ours`, ratio(other, mine), 1),
        ];
      }),
      ...(options.members
        ? []
        : [
            atMost(
              'the dearest size against the cheapest, 100 to 10,000 sockets',
              flat.length === SIZES.length ? Math.max(...flat) / Math.min(...flat) : undefined,
              1.15,
            ),
          ]),
    ];
  },
};
