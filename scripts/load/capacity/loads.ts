import type { ConnectionSpec, Target } from '../clients/connection.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import { HOST } from '../installation.js';
import { figuresOf, startMeasuring } from '../measure.js';
import { atRate } from '../pacing.js';
import type { Run } from '../scenario.js';
import { startGateways } from '../scenarios/cluster.js';
import { specsOf } from '../scenarios/fanout.js';
import { stampedText } from '../stamp.js';
import { type RunningServer, type Server, startOurs } from '../start-server.js';
import { preparationFor } from '../warm-up.js';
import { type Loaded, type Measurement, measureLoad, watchUsage } from './measure-load.js';

/** Loads of a size, each measured on servers of its own. */
export type Load = (run: Run, size: number) => Promise<Measurement>;

/** Messages per second to the one room whose sockets are counted. */
export const ROOM_RATE = 10;

/** Rooms that share the messages which are counted. */
export const ROOMS = 500;

/** Streams that get an event twice a second, all of them at the same moment; the others get heartbeats. */
const ACTIVE_STREAMS = 50;
export const EVENTS_RATE = 2 * ACTIVE_STREAMS;

/** Characters of a message. */
const LENGTH = 100;
const WARM_UP_SECONDS = 2;

const FLOW = { length: LENGTH, warmUpSeconds: WARM_UP_SECONDS };

/** @param name of its process */
const loadedOf = (running: RunningServer, name: string): Loaded => ({
  ...running,
  names: [name],
  metricsPort: running.httpPort,
});

const processName = ({ role, name }: Server) => (role === 'ours' ? 'the service' : name);

/** Sockets of one room, which get some messages a second. */
export const members =
  (server: Server): Load =>
  async (run, size) => {
    const running = await server.start(run, 1);
    const pool = await startWorkerPool(run.group, run.options.clients);
    await pool.openAll(running.target, specsOf(running, size, 1));
    const flow = { ...FLOW, rate: ROOM_RATE, deliveriesPerMessage: size };
    return measureLoad(run.options, loadedOf(running, processName(server)), pool, flow);
  };

/** Two-party rooms whose creators send. */
async function twoParty(server: Server, rooms: number, rate: number, run: Run): Promise<Measurement> {
  const running = await server.start(run, rooms);
  const pool = await startWorkerPool(run.group, run.options.clients);
  const specs = running.members.map((member, i) => ({ ...member, sender: i % 2 === 0 }));
  await pool.openAll(running.target, specs);
  const flow = { ...FLOW, rate, deliveriesPerMessage: 2 };
  return measureLoad(run.options, loadedOf(running, processName(server)), pool, flow);
}

/** Two-party rooms with a message a second in each. */
export const rooms =
  (server: Server): Load =>
  (run, size) =>
    twoParty(server, size, size, run);

/** Messages a second. */
export const messages =
  (server: Server): Load =>
  (run, size) =>
    twoParty(server, ROOMS, size, run);

/** Messages a second from members on one gateway to members on another one. */
export const clusterMessages: Load = async (run, size) => {
  const gateways = await startGateways(run, 2, 'classic', ROOMS);
  const pool = await startWorkerPool(run.group, run.options.clients);
  const side = (which: 0 | 1, sender: boolean): ConnectionSpec[] =>
    gateways.members.filter((_, i) => i % 2 === which).map((spec) => ({ ...spec, sender }));
  const [one, other] = gateways.targets as [Target, Target];
  await pool.openAll(one, side(0, true));
  await pool.openAll(other, side(1, false));
  const loaded = { ...gateways, names: ['gateway 1', 'gateway 2'] };
  return measureLoad(run.options, loaded, pool, { ...FLOW, rate: size, deliveriesPerMessage: 2 });
};

/** Event streams: some members, not in their rooms, are sent messages. */
export const streams: Load = async (run, size) => {
  const active = Math.min(ACTIVE_STREAMS, size);
  const running = await startOurs(run.group, { rooms: active, extra: size - active });
  const pool = await startWorkerPool(run.group, run.options.clients);
  const inRooms = running.members.slice(0, active * 2);
  const listeners = [...inRooms.filter((_, i) => i % 2 === 0), ...running.members.slice(active * 2)];
  const senders = inRooms.filter((_, i) => i % 2 === 1).map((spec) => ({ ...spec, sender: true }));
  const http: Target = { kind: 'stream', host: HOST, port: running.httpPort as number };
  await pool.openAll(http, listeners);
  // Of what senders receive themselves only notifications count: they get none.
  await pool.openAll({ ...running.target, event: 'notification' }, senders);
  const flow = { ...FLOW, rate: EVENTS_RATE, burst: active, deliveriesPerMessage: 1 };
  return measureLoad(run.options, loadedOf(running, 'the service'), pool, flow);
};

/** The same events, written to bare responses. */
export const bareStreams: Load = async ({ group, options }, size) => {
  const active = Math.min(ACTIVE_STREAMS, size);
  const { process, port } = await group.start('servers/event-stream', { measured: true });
  const pool = await startWorkerPool(group, options.clients);
  const specs = Array.from({ length: size }, () => ({}));
  await pool.openAll({ kind: 'stream', host: HOST, port }, specs);
  const loaded = { pids: [process.pid], names: ['bare node response'] };
  const write = async (seconds: number) => {
    const writing: Promise<void>[] = [];
    await atRate({ rate: EVENTS_RATE / ACTIVE_STREAMS, seconds }, (dueAt) =>
      writing.push(process.request({ content: stampedText(LENGTH, dueAt), streams: active })),
    );
    await Promise.all(writing);
    return writing.length * active;
  };
  const warmedUp = await write(preparationFor(options, WARM_UP_SECONDS));
  await pool.settle(warmedUp);
  await pool.reset();
  const stop = startMeasuring(loaded, pool.pids);
  const watched = await watchUsage(loaded, pool.pids);
  const events = await write(options.seconds);
  const { wall } = await watched();
  await pool.settle(events);
  const usage = stop();
  const counts = await pool.read();
  return {
    figures: {
      ...figuresOf(usage, counts.delivered, counts.deliveryTimes),
      lost: events - counts.delivered,
    },
    wall: wall(),
  };
};
