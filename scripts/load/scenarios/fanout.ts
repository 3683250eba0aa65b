import { latenciesOf, startCrew } from '../clients/crew.js';
import type { LineSpec } from '../clients/line.js';
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

/** Length of a message's text. */
const LENGTH = 100;
const WARM_UP_SECONDS = 2;

/** Connections of the two members of one room, one of which sends. */
function linesOf(
  size: number,
  tokens: [string, string] | undefined,
  room: number,
  listens: boolean,
): LineSpec[] {
  const lines: LineSpec[] = Array.from({ length: size }, (_, i) => ({
    room,
    ...(tokens ? { token: tokens[i % 2] as string } : {}),
  }));
  if (listens) (lines[0] as LineSpec).sender = true;
  else lines.push({ room, sender: true });
  return lines;
}

async function measure(server: SocketServer, size: number, run: Run): Promise<Figures> {
  const { stage, options } = run;
  const served = await server.start(run, 1);
  const crew = await startCrew(stage, options.clients);
  const before = memoryOf(served);
  const room = served.world?.rooms[0];
  const lines = linesOf(size, room?.tokens, room?.no ?? 1, served.senderListens);
  const opened = await crew.open(served.target, lines);
  if (opened.failed > 0) throw new Error(`${opened.failed} connections failed: ${opened.reason}`);
  const memory = memoryOf(served) - before;
  const rate = options.rate ?? Math.min(MAX_RATE, DELIVERIES_PER_SECOND / size);

  async function flow(seconds: number): Promise<void> {
    await crew.flow({ seconds, rate, length: LENGTH });
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

const partOf = (size: number) => `${size.toLocaleString('en')} sockets`;

function contender(server: SocketServer, size: number): Contender {
  const { name, role, missing } = server;
  return { name, role, part: partOf(size), missing, measure: (run) => measure(server, size, run) };
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
    return sizes.flatMap((size) => [
      contender(ours(), size),
      contender(bareUws(), size),
      ...(size === compared
        ? [plainWs(), socketIoOnWs(), nchan(), mosquitto()].map((peer) => contender(peer, size))
        : []),
    ]);
  },

  verdicts(results, options) {
    const size = options.members ?? COMPARED;
    const cpu = (name: string, at = size) => medianOf(results, name, 'cpu', partOf(at));
    const mine = cpu('this service');
    const flat = SIZES.map((at) => cpu('this service', at)).filter((value) => value !== undefined);
    return [
      atMost('CPU per delivery, against bare uWebSockets.js', ratio(mine, cpu('bare uWebSockets.js')), 1.4),
      atLeast('CPU per delivery of Socket.IO on ws, against ours', ratio(cpu('Socket.IO on ws'), mine), 4),
      atLeast('CPU per delivery of nchan, against ours', ratio(cpu('nchan'), mine), 1),
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
