import { setTimeout as sleep } from 'node:timers/promises';
import { io, type Socket } from 'socket.io-client';
import { HOST, startDatabase, startGateway, startHttp } from '../installation.js';
import { startMeasuring, sum } from '../measure.js';
import type { Figures } from '../metrics.js';
import { isShort, type Lengths, type LoadOptions } from '../options.js';
import { redisMissing, startRedis } from '../programs.js';
import type { Contender, Run, Scenario } from '../scenario.js';
import { seedRooms } from '../seed.js';
import { atMost, medianOf, onlyAt, ratio } from '../verdict.js';
import { preparationFor } from '../warm-up.js';

/** Open rooms: each has a socket in it. */
const ROOMS = 100_000;
const FEW_ROOMS = 1_000;

/** Sockets that join them: with one for each room, the clients would be most of the load test. */
const SOCKETS = 100;

/** Joins of a socket at a time. */
const JOINS_AT_ONCE = 10;

/** Time after the last join until the measurement, s: what was read to open the rooms, and garbage, is no silence. */
const SETTLING_SECONDS = 20;

/**
 * A turn lasts `--seconds` times LENGTHS, and at least LEAST_SECONDS unless the run is short: most database reads come every
 * 5 s, some every 30 s.
 */
const LENGTHS = 8;
const LEAST_SECONDS = 60;

/** How long a cluster is measured, s. */
export const lengthOf = (options: Lengths): number =>
  Math.max(options.seconds * LENGTHS, isShort(options) ? 0 : LEAST_SECONDS);

/** About how long it takes to start a cluster and to open its rooms, s. */
const OPENING_SECONDS = 35;

/** Commands that read. */
const READS =
  /^adoption_database_operation_duration_seconds_count\{.*command="(?:find|aggregate|count|distinct|getMore)".*\} (\d+)/gm;

interface Cluster {
  rooms: number;
  gateways: number;
  https: number;
  isSigned: boolean;
}

async function join(socket: Socket, chatNos: number[]): Promise<void> {
  for (let i = 0; i < chatNos.length; i += JOINS_AT_ONCE) {
    const joins = chatNos.slice(i, i + JOINS_AT_ONCE).map(async (chatNo) => {
      const { status } = await socket.timeout(60_000).emitWithAck('room:join', { chatNo });
      if (status !== 200) throw new Error(`room ${chatNo} was not joined: ${status}`);
    });
    await Promise.all(joins);
  }
}

/** @param tokens of the members, whose rooms are those of `seedRooms` */
async function openRooms(tokens: string[], rooms: number, gateways: number[]): Promise<Socket[]> {
  return Promise.all(
    tokens.map(async (token, i) => {
      const url = `http://${HOST}:${gateways[i % gateways.length]}`;
      const socket = io(url, {
        transports: ['websocket'],
        auth: { token },
        forceNew: true,
        reconnection: false,
      });
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve);
        socket.once('connect_error', reject);
      });
      const own = Array.from(
        { length: Math.ceil((rooms - i) / tokens.length) },
        (_, k) => 1 + i + k * tokens.length,
      );
      await join(socket, own);
      return socket;
    }),
  );
}

/** Queries that the processes have sent so far. */
async function readsOf(ports: number[]): Promise<number> {
  const pages = await Promise.all(
    ports.map(async (port) => (await fetch(`http://${HOST}:${port}/metrics`)).text()),
  );
  return sum(pages.flatMap((page) => [...page.matchAll(READS)].map(([, count]) => Number(count))));
}

async function measure(
  { rooms, gateways, https, isSigned }: Cluster,
  { group, options }: Run,
): Promise<Figures> {
  const database = await startDatabase(group);
  const tokens = await seedRooms(database.uri, rooms, Math.min(SOCKETS, rooms));
  const redis = { url: await startRedis(group), adapter: 'classic' as const, isSigned };
  const started: Awaited<ReturnType<typeof startGateway>>[] = [];
  for (let i = 1; i <= https; i += 1) started.push(await startHttp(group, `http-${i}`, database.uri, redis));
  for (let i = 1; i <= gateways; i += 1)
    started.push(await startGateway(group, `gateway-${i}`, database.uri, redis));
  const ports = started.map(({ port }) => port);
  const sockets = await openRooms(tokens, rooms, ports.slice(https));
  try {
    await sleep(preparationFor(options, SETTLING_SECONDS) * 1_000);
    const stop = startMeasuring({
      pids: started.map(({ process }) => process.pid),
      databasePid: database.pid,
    });
    const before = await readsOf(ports);
    await sleep(lengthOf(options) * 1_000);
    const { seconds, cpus, databaseCpu = 0, others, steal } = stop();
    const percent = (micros: number) => micros / seconds / 10_000;
    return {
      ...{ others, steal },
      reads: ((await readsOf(ports)) - before) / seconds,
      cores: percent(sum(cpus)),
      databaseCores: percent(databaseCpu),
      delivered: sockets.filter(({ connected }) => connected).length,
      lost: sockets.filter(({ connected }) => !connected).length,
    };
  } finally {
    for (const socket of sockets) socket.close();
  }
}

const nameOf = ({ rooms, gateways, https, isSigned }: Cluster) =>
  `${rooms.toLocaleString('en')} rooms, ${gateways + https} processes${isSigned ? '' : ', without a signing key'}`;

/** In this order: few rooms; many; many in more processes; as many, where each process looks for itself. */
function clusters({ rooms = ROOMS }: LoadOptions): [Cluster, Cluster, Cluster, Cluster] {
  const many = { rooms, gateways: 1, https: 1, isSigned: true };
  return [
    { ...many, rooms: Math.min(FEW_ROOMS, rooms) },
    many,
    { ...many, gateways: 4, https: 4 },
    { ...many, isSigned: false },
  ];
}

export const silence: Scenario = {
  name: 'silence',
  title: 'A cluster in which nothing happens: what it costs to have rooms open, by 100 sockets',
  columns: ['reads', 'cores', 'databaseCores', 'delivered', 'lost'],
  heeds: ['rooms'],
  runs: 1,
  turnSeconds: (options) => lengthOf(options) + preparationFor(options, SETTLING_SECONDS) + OPENING_SECONDS,

  contenders: (options) =>
    clusters(options).map(
      (cluster): Contender => ({
        ...{ name: nameOf(cluster), role: 'ours', missing: redisMissing },
        measure: (run) => measure(cluster, run),
      }),
    ),

  verdicts(results, options) {
    const [few, many, more] = clusters(options).map((cluster) =>
      medianOf(results, nameOf(cluster), 'reads'),
    ) as [number, number, number, number];
    return onlyAt(options, { rooms: ROOMS }, [
      atMost('database queries a second of an idle cluster', many, 3),
      atMost('the same of 100,000 open rooms, against 1,000', ratio(many, few), 1.15),
      atMost('the same of 8 processes, against 2', ratio(more, many), 1.15),
    ]);
  },
};
