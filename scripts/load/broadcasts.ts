import type { ConnectionSpec, Target } from './clients/connection.js';
import { type ReturningPool, startReturningPool } from './clients/returning-pool.js';
import { percentiles } from './latency.js';
import { lateness, startMeasuring, sum } from './measure.js';
import type { Metric } from './metrics.js';
import { FULL_SECONDS, type LoadOptions } from './options.js';
import type { Measured, Run } from './scenario.js';

/** Broadcasts to everybody, and how long they take: at the default `--seconds`, one a second for two minutes. */
const BROADCASTS = 120;
const TIMES_SECONDS = 15;

/** Clients, unless the options say otherwise. */
const CLIENTS = 5_000;

/** Pause before a client whose connection was lost tries again, ms: that of Socket.IO's client. */
const DELAY_MS = 1_000;

/** Time for a first message, which does not count, s. */
const FIRST_SECONDS = 0.1;

/** Characters of a message. */
const LENGTH = 100;

/** How long the broadcasts take, s. */
export const durationOf = ({ seconds }: LoadOptions) => seconds * TIMES_SECONDS;

/** A time that `--seconds` scales, of its default. */
export const scaled = ({ seconds }: LoadOptions, time: number) => (time * seconds) / FULL_SECONDS;

/** Columns of scenarios about who ends up with which broadcasts. */
export const broadcastColumns: Metric[] = [
  'share',
  'leastShare',
  'delivered',
  'lost',
  'p50',
  'p99',
  'p999',
  'late',
  'clients',
];

/** Servers with one room. */
export interface Audience {
  targets: Target[];
  /** Both members of the room: connections of which all others are copies. */
  members: ConnectionSpec[];
}

/**
 * Broadcasts to clients that lose their connections meanwhile. The publisher sends again what was not acknowledged.
 * @param disturb makes the clients lose their connections; gets all processes of clients
 */
export async function measureBroadcasts(
  { group, options }: Run,
  { targets, members }: Audience,
  disturb: (clients: ReturningPool, publisher: ReturningPool) => Promise<void>,
): Promise<Measured> {
  const size = options.members ?? CLIENTS;
  const clients = await startReturningPool(group, options.clients);
  const publisher = await startReturningPool(group, 1);
  const delayMs = scaled(options, DELAY_MS);
  const specs = Array.from({ length: size }, (_, i): ConnectionSpec => ({ ...members[i % 2] }));
  await clients.open(targets, specs, delayMs);
  await publisher.open(targets, [{ ...members[0], sender: true }], delayMs);
  // Connection state recovery needs a message to begin with: a client without one has no offset.
  await publisher.publish(FIRST_SECONDS, 1, LENGTH);
  await clients.settle(size, size);
  await Promise.all([clients.forget(), publisher.forget()]);
  const stop = startMeasuring({ pids: [] }, clients.pids);
  const [acknowledged] = await Promise.all([
    publisher.publish(durationOf(options), BROADCASTS, LENGTH),
    disturb(clients, publisher),
  ]);
  await clients.settle(size, BROADCASTS * size);
  const { clients: busiest, others, steal } = stop();
  const [{ received, catchUp }, { late }] = await Promise.all([clients.read(), publisher.read()]);
  if (acknowledged === 0) throw new Error('no broadcast was accepted');
  const delivered = sum(received);
  const least = received.reduce((least, one) => Math.min(least, one), BROADCASTS);
  return {
    share: (delivered / (BROADCASTS * size)) * 100,
    leastShare: (least / BROADCASTS) * 100,
    ...{ delivered, lost: BROADCASTS * size - delivered },
    ...{ clients: busiest, others, steal, late: lateness(late) },
    ...percentiles(catchUp),
  };
}
