import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seedChat } from '../chat-world.js';
import type { ConnectionSpec, Target } from '../clients/connection.js';
import { latenciesOf, startWorkerPool } from '../clients/worker-pool.js';
import { HOST, startDatabase, startGateway } from '../installation.js';
import { percentiles } from '../latency.js';
import type { Figures } from '../metrics.js';
import type { LoadOptions } from '../options.js';
import { cpuMicros } from '../process-figures.js';
import { freePort, type ProcessGroup, until } from '../process-group.js';
import { atMost, type Contender, medianOf, type Run, ratio, type Scenario } from '../scenario.js';
import { openWindow, usedPer } from '../window.js';

type Adapter = 'classic' | 'sharded';

const MEMBERS = 1_000;
const ROOMS = 200;
/** A room as busy as one gateway can serve alone and a little less: below, what four processes do anyway counts most. */
const DELIVERIES_PER_SECOND = 50_000;
const MESSAGES_PER_SECOND = 300;
const LENGTH = 100;
const WARM_UP_SECONDS = 2;

/** How long, in ms, what passes the gateways while nothing is sent is measured. */
const QUIET_MS = 5_000;

const redisServer = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'redis-server'))
  .find((path) => existsSync(path));
const missing = redisServer ? undefined : 'not installed (Debian: redis-server)';

async function startRedis(stage: ProcessGroup): Promise<string> {
  const port = await freePort();
  const args = [
    '--bind',
    HOST,
    '--port',
    String(port),
    '--dir',
    stage.folder,
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  const actor = stage.spawn('redis-server', redisServer as string, args);
  await until(
    'redis-server',
    () =>
      new Promise((resolve) => {
        const socket = connect(port, HOST);
        socket.once('connect', () => {
          socket.destroy();
          resolve(true);
        });
        socket.once('error', () => resolve(false));
      }),
    actor,
  );
  return `redis://${HOST}:${port}`;
}

interface Gateways {
  world: Awaited<ReturnType<typeof seedChat>>;
  targets: Target[];
  pids: number[];
  databasePid: number;
}

async function startGateways(
  { stage }: Run,
  count: number,
  adapter: Adapter,
  rooms: number,
): Promise<Gateways> {
  const database = await startDatabase(stage);
  const world = await seedChat(database.uri, rooms);
  const redisUrl = await startRedis(stage);
  const gateways: Awaited<ReturnType<typeof startGateway>>[] = [];
  for (let i = 0; i < count; i += 1) {
    gateways.push(await startGateway(stage, `gateway-${i + 1}`, database.uri, redisUrl, adapter));
  }
  return {
    world,
    targets: gateways.map(({ port }) => ({ kind: 'socketio', host: HOST, port })),
    pids: gateways.map(({ actor }) => actor.pid),
    databasePid: database.pid,
  };
}

async function openAll(
  crew: Awaited<ReturnType<typeof startWorkerPool>>,
  target: Target,
  lines: ConnectionSpec[],
): Promise<void> {
  const { failed, reason } = await crew.open(target, lines);
  if (failed > 0) throw new Error(`${failed} connections failed: ${reason}`);
}

/** One room whose sockets are spread over all gateways; its sender is on the first. */
async function spread(count: number, adapter: Adapter, run: Run): Promise<Figures> {
  const { stage, options } = run;
  const size = options.members ?? MEMBERS;
  const { world, targets, pids, databasePid } = await startGateways(run, count, adapter, 1);
  const crew = await startWorkerPool(stage, options.clients);
  const [room] = world.rooms;
  for (const [i, target] of targets.entries()) {
    const share = Math.floor(size / count) + (i < size % count ? 1 : 0);
    const lines = Array.from(
      { length: share },
      (_, k): ConnectionSpec => ({ room: 1, token: room?.tokens[k % 2] as string }),
    );
    if (i === 0) (lines[0] as ConnectionSpec).sender = true;
    await openAll(crew, target, lines);
  }
  const rate = options.rate ?? DELIVERIES_PER_SECOND / size;
  async function flow(seconds: number): Promise<void> {
    await crew.flow({ seconds, rate, length: LENGTH });
    await crew.settle(Math.round(rate * seconds) * size);
  }
  await flow(Math.min(WARM_UP_SECONDS, options.seconds));
  await crew.forget();
  const close = openWindow({ pids, databasePid }, crew);
  await flow(options.seconds);
  const used = close();
  const tally = await crew.read();
  return {
    ...usedPer(used, tally.delivered),
    delivered: tally.delivered,
    lost: tally.sent * size - tally.delivered,
    perSecond: tally.delivered / used.seconds,
    ...percentiles(latenciesOf(tally).deliveries),
  };
}

/**
 * Two-party rooms between the first two gateways; the third has members of other rooms. What a message
 * costs the second gateway, which delivers it to one member, and the third, which has nobody in its room;
 * what both use while nothing is sent is taken off.
 */
async function bystander(adapter: Adapter, run: Run): Promise<Figures> {
  const { stage, options } = run;
  const rooms = options.rooms ?? ROOMS;
  const { world, targets, pids, databasePid } = await startGateways(run, 3, adapter, rooms * 2);
  const crew = await startWorkerPool(stage, options.clients);
  const [busy, others] = [world.rooms.slice(0, rooms), world.rooms.slice(rooms)];
  const [first, second, third] = targets as [Target, Target, Target];
  const side = (all: typeof busy, which: 0 | 1, sender: boolean): ConnectionSpec[] =>
    all.map(({ no, tokens }) => ({ room: no, token: tokens[which], sender }));
  await openAll(crew, first, side(busy, 0, true));
  await openAll(crew, second, side(busy, 1, false));
  await openAll(crew, third, side(others, 0, false));
  const rate = options.rate ?? MESSAGES_PER_SECOND;
  async function flow(seconds: number): Promise<void> {
    await crew.flow({ seconds, rate, length: LENGTH });
    await crew.settle(Math.round(rate * seconds) * 2);
  }
  const [, hearing = 0, deaf = 0] = pids;
  const read = () => ({ at: performance.now(), hearing: cpuMicros(hearing), deaf: cpuMicros(deaf) });
  await flow(Math.min(WARM_UP_SECONDS, options.seconds));
  const quiet = read();
  await sleep(Math.min(QUIET_MS, options.seconds * 1_000));
  const begin = read();
  await crew.forget();
  const close = openWindow({ pids, databasePid }, crew);
  await flow(options.seconds);
  const used = close();
  const end = read();
  const tally = await crew.read();
  const idle = (which: 'hearing' | 'deaf') =>
    ((begin[which] - quiet[which]) / (begin.at - quiet.at)) * (end.at - begin.at);
  const net = (which: 'hearing' | 'deaf') => (end[which] - begin[which] - idle(which)) / tally.sent;
  return {
    ...usedPer(used, tally.delivered),
    cpu: net('hearing'),
    bystanderCpu: Math.max(0, net('deaf')),
    delivered: tally.delivered,
    lost: tally.sent * 2 - tally.delivered,
    perSecond: tally.delivered / used.seconds,
    ...percentiles(latenciesOf(tally).deliveries),
  };
}

const ADAPTERS: Adapter[] = ['classic', 'sharded'];
const COUNTS = [1, 2, 4];
const SPREAD = 'one room over all gateways, CPU of all per delivery';
const BYSTANDER = 'two-party rooms on two of three gateways, CPU of the hearing one per message';
const nameOf = (count: number, adapter: Adapter) => `${count} gateway${count > 1 ? 's' : ''}, ${adapter}`;

export const cluster: Scenario = {
  name: 'cluster',
  title: 'Several gateways over Redis',
  columns: [
    'cpu',
    'bystanderCpu',
    'delivered',
    'lost',
    'perSecond',
    'p50',
    'p99',
    'p999',
    'databaseCpu',
    'clients',
  ],

  contenders: (_options: LoadOptions): Contender[] => [
    ...ADAPTERS.flatMap((adapter) =>
      COUNTS.map(
        (count): Contender => ({
          ...{ name: nameOf(count, adapter), role: 'ours', part: SPREAD, missing },
          measure: (run) => spread(count, adapter, run),
        }),
      ),
    ),
    ...ADAPTERS.map(
      (adapter): Contender => ({
        ...{ name: adapter, role: 'ours', part: BYSTANDER, missing },
        measure: (run) => bystander(adapter, run),
      }),
    ),
  ],

  verdicts(results) {
    const cpu = (count: number, adapter: Adapter) => medianOf(results, nameOf(count, adapter), 'cpu', SPREAD);
    return [
      ...ADAPTERS.map((adapter) =>
        atMost(
          `CPU per delivery, 4 gateways against one, ${adapter}`,
          ratio(cpu(4, adapter), cpu(1, adapter)),
          1.3,
        ),
      ),
      atMost(
        'a message on a gateway without members of its room, against one that has one, sharded',
        ratio(
          medianOf(results, 'sharded', 'bystanderCpu', BYSTANDER),
          medianOf(results, 'sharded', 'cpu', BYSTANDER),
        ),
        0.05,
      ),
    ];
  },
};
