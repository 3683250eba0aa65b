import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionSpec, Target } from '../clients/connection.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import { HOST, type RedisAdapter, startDatabase, startGateway } from '../installation.js';
import { measureFlow, startMeasuring, type Usage } from '../measure.js';
import { type Figures, flowColumns } from '../metrics.js';
import { redisMissing, startRedis } from '../programs.js';
import type { Contender, Run, Scenario } from '../scenario.js';
import { seedChat } from '../seed.js';
import { bareUws, startBareOverRedis } from '../start-server.js';
import { atMost, medianOf, onlyAt, ratio } from '../verdict.js';
import { WARM_UP_SENDERS, warmUp } from '../warm-up.js';

const MEMBERS = 1_000;
const ROOMS = 200;

/** Slightly less than one gateway can deliver: at lower rates the fixed work of four processes dominates. */
const DELIVERIES_PER_SECOND = 50_000;
const MESSAGES_PER_SECOND = 300;

/** Characters of a message. */
const LENGTH = 100;
const WARM_UP_SECONDS = 2;

/** Time in which the gateways' CPU is measured while nothing is sent, ms. */
const QUIET_MS = 5_000;

interface Gateways {
  /** Both members of room 1, of room 2, and so on. */
  members: ConnectionSpec[];
  targets: Target[];
  pids: number[];
  databasePid?: number;
}

async function startGateways(
  { group }: Run,
  count: number,
  adapter: RedisAdapter,
  rooms: number,
): Promise<Gateways> {
  const database = await startDatabase(group);
  const members = await seedChat(database.uri, rooms);
  const redis = { url: await startRedis(group), adapter };
  const gateways: Gateways = { members, targets: [], pids: [], databasePid: database.pid };
  for (let i = 1; i <= count; i += 1) {
    const { process, port } = await startGateway(group, `gateway-${i}`, database.uri, redis);
    gateways.targets.push({ kind: 'socketio', host: HOST, port });
    gateways.pids.push(process.pid);
  }
  return gateways;
}

/** Bare uWebSockets.js loops, which publish over Redis what any of them gets. */
async function startBare({ group }: Run, count: number): Promise<Gateways> {
  const gateways: Gateways = { members: [1, 1, 2, 2].map((room) => ({ room })), targets: [], pids: [] };
  const redisUrl = await startRedis(group);
  for (let i = 1; i <= count; i += 1) {
    const { process, port } = await startBareOverRedis(group, redisUrl);
    gateways.targets.push({ kind: 'socketio', host: HOST, port });
    gateways.pids.push(process.pid);
  }
  return gateways;
}

/** Connections of a room's two members, spread over all gateways, of which the first ones send. */
function spread(targets: Target[], members: ConnectionSpec[], size: number, senders: number) {
  const count = targets.length;
  const specs = Array.from(
    { length: size },
    (_, i): ConnectionSpec => ({ ...members[Math.floor(i / count) % 2], sender: i < senders }),
  );
  return targets.map((target, g) => ({ target, specs: specs.filter((_, i) => i % count === g) }));
}

/** One room whose sockets are spread over all gateways; its sender is on the first one. A second room is for the warm-up. */
async function oneRoom(gateways: Gateways, { group, options }: Run): Promise<Figures> {
  const size = options.members ?? MEMBERS;
  const pool = await startWorkerPool(group, options.clients);
  const { targets, members } = gateways;
  await warmUp(pool, spread(targets, members.slice(2), WARM_UP_SENDERS, WARM_UP_SENDERS), options);
  for (const { target, specs } of spread(targets, members, size, 1)) await pool.openAll(target, specs);
  const rate = options.rate ?? DELIVERIES_PER_SECOND / size;
  const flow = { rate, length: LENGTH, warmUpSeconds: WARM_UP_SECONDS, deliveriesPerMessage: size };
  return (await measureFlow(options, gateways, pool, flow)).figures;
}

/**
 * Two-party rooms between the first two gateways; the third one has members of other rooms. Measures the CPU
 * per message of the second gateway, which delivers it to one member, and of the third one, which has nobody
 * in its room, minus what both use while nothing is sent.
 */
async function twoPartyRooms(adapter: RedisAdapter, run: Run): Promise<Figures> {
  const { group, options } = run;
  const count = options.rooms ?? ROOMS;
  const gateways = await startGateways(run, 3, adapter, count * 2);
  const pool = await startWorkerPool(group, options.clients);
  const [sending, receiving, bystander] = gateways.targets as [Target, Target, Target];
  const side = (which: 0 | 1) => gateways.members.filter((_, i) => i % 2 === which);
  await pool.openAll(
    sending,
    side(0)
      .slice(0, count)
      .map((spec) => ({ ...spec, sender: true })),
  );
  await pool.openAll(receiving, side(1).slice(0, count));
  await pool.openAll(bystander, side(0).slice(count));
  const rate = options.rate ?? MESSAGES_PER_SECOND;
  const flow = { rate, length: LENGTH, warmUpSeconds: WARM_UP_SECONDS, deliveriesPerMessage: 2 };
  let quiet: Usage | undefined;
  const { usage, counts, figures } = await measureFlow(options, gateways, pool, flow, async () => {
    const stop = startMeasuring(gateways);
    await sleep(Math.min(QUIET_MS, options.seconds * 1_000));
    quiet = stop();
  });
  const perMessage = (gateway: number) => {
    const idle = ((quiet?.cpus[gateway] ?? 0) / (quiet?.seconds ?? 1)) * usage.seconds;
    return ((usage.cpus[gateway] ?? 0) - idle) / counts.sent;
  };
  return {
    ...figures,
    cpu: perMessage(1),
    bystanderCpu: Math.max(0, perMessage(2)),
  };
}

const ADAPTERS: RedisAdapter[] = ['classic', 'sharded'];
const COUNTS = [1, 2, 4];
const ONE_ROOM = 'one room over all gateways, CPU of all per delivery';
const TWO_PARTY = 'two-party rooms on two of three gateways, CPU of the receiving one per message';
const nameOf = (count: number, adapter: RedisAdapter) =>
  `${count} gateway${count > 1 ? 's' : ''}, ${adapter}`;

const bareNameOf = (count: number) =>
  count > 1
    ? `${count} bare uWebSockets.js processes over Redis`
    : 'a bare uWebSockets.js process over Redis';

export const cluster: Scenario = {
  name: 'cluster',
  title: 'Several gateways over Redis',
  columns: flowColumns,
  heeds: ['members', 'rooms', 'rate'],

  contenders: () => [
    ...ADAPTERS.flatMap((adapter) =>
      COUNTS.map(
        (count): Contender => ({
          ...{ name: nameOf(count, adapter), role: 'ours', part: ONE_ROOM, missing: redisMissing },
          measure: async (run) => oneRoom(await startGateways(run, count, adapter, 2), run),
        }),
      ),
    ),
    ...[1, Math.max(...COUNTS)].map(
      (count): Contender => ({
        ...{ name: bareNameOf(count), role: 'limit', part: ONE_ROOM },
        missing: redisMissing ?? bareUws.missing,
        measure: async (run) => oneRoom(await startBare(run, count), run),
      }),
    ),
    ...ADAPTERS.map(
      (adapter): Contender => ({
        ...{ name: adapter, role: 'ours', part: TWO_PARTY, missing: redisMissing },
        measure: (run) => twoPartyRooms(adapter, run),
      }),
    ),
  ],

  verdicts(results, options) {
    const cpu = (count: number, adapter: RedisAdapter) =>
      medianOf(results, nameOf(count, adapter), 'cpu', ONE_ROOM);
    const sharded = (metric: 'cpu' | 'bystanderCpu') => medianOf(results, 'sharded', metric, TWO_PARTY);
    return [
      ...onlyAt(
        options,
        { members: MEMBERS, rate: DELIVERIES_PER_SECOND / MEMBERS },
        ADAPTERS.map((adapter) =>
          atMost(
            `CPU per delivery, 4 gateways against one, ${adapter}`,
            ratio(cpu(4, adapter), cpu(1, adapter)),
            1.15,
          ),
        ),
      ),
      ...onlyAt(options, { rooms: ROOMS, rate: MESSAGES_PER_SECOND }, [
        atMost(
          'a message on a gateway without members of its room, against one that has one, sharded',
          ratio(sharded('bystanderCpu'), sharded('cpu')),
          0.05,
        ),
      ]),
    ];
  },
};
