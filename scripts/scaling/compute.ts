import type { InputName, Inputs } from './inputs.js';

/** What the code itself fixes; test/e2e/deploy/scaling.test.ts holds these against the sources. */
export const codeLimits = {
  /** gateway/compare-rooms.ts: how often each gateway reads the head of each open room. */
  compareEveryMs: 5_000,
};

/** What a number of connected members takes. */
export interface Sizing {
  members: number;
  messagesPerSecond: number;
  notificationsPerSecond: number;
  readsPerSecond: number;
  gateways: number;
  /** Why there are that many. */
  gatewayReason: 'sockets' | 'CPU';
  httpProcesses: number;
  httpReason: 'streams' | 'CPU';
  /** Of all processes, with what is connected to them. */
  memoryGiB: number;
  machines: number;
  /** Share of a core each gateway spends on pushes for members of others, classic adapter. */
  classicWaste: number;
  /** Messages a second one Redis would hand to subscribers, classic adapter. */
  classicRedisPerSecond: number;
  adapter: 'classic' | 'sharded';
  redisNodes: number;
  mongoWritesPerSecond: number;
  mongoReadsPerSecond: number;
  /** Of these, heads of open rooms, which gateways compare in the background. */
  headReadsPerSecond: number;
  /** Index keys of new notifications that the tails of all processes read, thousands at a time. */
  tailKeysPerSecond: number;
  mongoShards: number;
  messagesGiBPerDay: number;
  /** Cores that are busy for one second when the sockets of one gateway come back within it. */
  stormCores: number;
}

const MILLION = 1_000_000;
const GIB = 1024 ** 3;

/** The rate of messages from which the classic adapter costs each gateway this share of a core. */
export function classicCeiling(inputs: Inputs, share = 0.2): number {
  return (share * MILLION) / inputs.foreignUs.value;
}

/** What this many connected members take, each with one socket and one event stream. */
export function computeSizing(members: number, inputs: Inputs): Sizing {
  const of = (name: InputName) => inputs[name].value;
  const perSecond = (name: InputName) => (members * of(name)) / 3_600;
  const messages = perSecond('messagesPerHour');
  const notifications = perSecond('notificationsPerHour');
  const reads = perSecond('readsPerHour');
  const budget = of('load') * MILLION;

  // Gateways: what is theirs, and half of the messages once more for the other party's gateway.
  const ownUs = messages * (of('messageUs') + of('deliveryUs')) + notifications * of('deliveryUs');
  const forSockets = Math.ceil(members / of('socketsPerProcess'));
  const classicWaste = (messages * of('foreignUs')) / MILLION;
  const classicWorks = classicWaste < 0.2;
  const shardedUs = ownUs + messages * of('foreignUs');
  const forCpu = classicWorks
    ? Math.ceil(ownUs / Math.max(1, budget - messages * of('foreignUs')))
    : Math.ceil(shardedUs / budget);
  // Two are the fewest that outlive one of them.
  const gateways = Math.max(2, forSockets, forCpu);

  const httpUs = notifications * of('streamEventUs') + reads * of('readUs');
  const forStreams = Math.ceil(members / of('streamsPerProcess'));
  const httpCpu = Math.ceil(httpUs / budget);
  const httpProcesses = Math.max(2, forStreams, httpCpu);

  const connectedBytes = members * (of('socketKiB') + of('streamKiB')) * 1024;
  const memoryGiB = (connectedBytes + (gateways + httpProcesses) * of('processMiB') * 1024 ** 2) / GIB;
  const machines = Math.max(
    2,
    Math.ceil((gateways + httpProcesses) / of('machineCores')),
    Math.ceil(memoryGiB / (of('machineGiB') * of('load'))),
  );

  const classicRedisPerSecond = messages * gateways + notifications;
  const adapter =
    classicWorks && classicRedisPerSecond < of('redisPerSecond') * of('load') ? 'classic' : 'sharded';
  // Sharded: a push goes to the gateways that have somebody in its room, two at most of a chat.
  const redisPerSecond = adapter === 'classic' ? classicRedisPerSecond : messages * 2 + notifications;
  const redisNodes = Math.max(1, Math.ceil(redisPerSecond / (of('redisPerSecond') * of('load'))));

  const seconds = codeLimits.compareEveryMs / 1_000;
  const headReads = (members * of('inRoomShare')) / seconds;
  // A message is one insert, and about every second one moves a read pointer.
  const writes = messages * 1.5 + notifications * 2;
  const mongoReads = reads * 2 + headReads;
  const mongoShards = Math.max(
    1,
    Math.ceil(writes / (of('mongoWritesPerSecond') * of('load'))),
    Math.ceil(mongoReads / (of('mongoReadsPerSecond') * of('load'))),
  );

  return {
    members,
    messagesPerSecond: messages,
    notificationsPerSecond: notifications,
    readsPerSecond: reads,
    gateways,
    gatewayReason: forCpu > forSockets ? 'CPU' : 'sockets',
    httpProcesses,
    httpReason: httpCpu > forStreams ? 'CPU' : 'streams',
    memoryGiB,
    machines,
    classicWaste,
    classicRedisPerSecond,
    adapter,
    redisNodes,
    mongoWritesPerSecond: writes,
    mongoReadsPerSecond: mongoReads,
    headReadsPerSecond: headReads,
    tailKeysPerSecond: (gateways + httpProcesses) * notifications,
    mongoShards,
    messagesGiBPerDay: (messages * 3_600 * of('busyHoursPerDay') * of('messageBytes')) / GIB,
    stormCores: (Math.min(of('socketsPerProcess'), members / gateways) * of('connectUs')) / MILLION,
  };
}
