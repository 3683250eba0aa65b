import { Cluster, Redis, type RedisOptions } from 'ioredis';
import {
  guardListeners,
  ignorePublishFailures,
  keepSubscriptions,
  measureCommands,
} from './ioredis-internals.js';
import type { RedisTarget } from './url.js';

export type RedisClient = Redis | Cluster;

/** Each purpose has its own time-outs and queues. */
type Purpose = 'commands' | 'publisher' | 'subscriber';

/** Longest time, ms, until a command is answered or rejects. */
export const COMMAND_TIMEOUT_MS = 1_000;

/** Longest silence, ms, of a connection with unanswered commands before it is closed, by purpose. */
const SILENCE_MS: Record<Purpose, number> = { commands: 3_000, publisher: 2_000, subscriber: 5_000 };

/** Longest pause between connection attempts, ms. */
const MAX_RETRY_DELAY_MS = 1_000;

/** Shortest time, ms, between reconnects because a server is read-only. */
const READONLY_EVERY_MS = 1_000;

/** Doubles from 50 ms to the cap, with jitter so that processes do not reconnect in step. */
function retryDelay(attempt: number): number {
  const delay = Math.min(MAX_RETRY_DELAY_MS, 50 * 2 ** Math.min(attempt, 10));
  return Math.round(delay * (0.5 + Math.random() / 2));
}

/** After a failover the former master is a read-only replica: reconnecting finds the new one. */
function createReadonlyPolicy(): (error: Error) => boolean {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!error.message.startsWith('READONLY') || performance.now() - lastAt < READONLY_EVERY_MS) return false;
    lastAt = performance.now();
    return true;
  };
}

/** Options of a connection, to a single server or to a node of a cluster. */
function connectionOptions(target: RedisTarget, purpose: Purpose): RedisOptions {
  const subscribing = purpose === 'subscriber';
  return {
    ...(target.username === undefined ? {} : { username: target.username }),
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(target.tls ? { tls: target.tls } : {}),
    connectionName: `adoption-${purpose}`,
    connectTimeout: 3_000,
    keepAlive: 10_000,
    // A subscriber's commands wait for the connection as long as it takes. The others' fail at once while
    // Redis is down, so that nothing stale is sent after an outage.
    maxRetriesPerRequest: subscribing ? null : 0,
    autoResendUnfulfilledCommands: subscribing,
    socketTimeout: SILENCE_MS[purpose],
    ...(purpose === 'commands' ? { commandTimeout: COMMAND_TIMEOUT_MS } : {}),
    reconnectOnError: createReadonlyPolicy(),
  };
}

function createClient(target: RedisTarget, purpose: Purpose): RedisClient {
  const options = connectionOptions(target, purpose);
  // Commands may wait for the first connection, publishes never. In a cluster's queue no time-out holds.
  const enableOfflineQueue =
    purpose === 'subscriber' || (purpose === 'commands' && target.kind !== 'cluster');
  if (target.kind === 'cluster') {
    return new Cluster(target.addresses, {
      redisOptions: options,
      enableOfflineQueue,
      clusterRetryStrategy: retryDelay,
      slotsRefreshTimeout: 2_000,
      slotsRefreshInterval: 10_000,
      shardedSubscribers: purpose === 'subscriber',
      // TLS certificates are checked against host names: do not resolve them to addresses.
      ...(target.tls ? { dnsLookup: (address, done) => done(null, address) } : {}),
    });
  }
  const common = { ...options, db: target.db, enableOfflineQueue, retryStrategy: retryDelay };
  const [first] = target.addresses;
  if (target.kind === 'single') return new Redis({ ...common, ...first });
  return new Redis({
    ...common,
    sentinels: target.addresses,
    name: target.master as string,
    sentinelRetryStrategy: retryDelay,
    ...(target.sentinelPassword ? { sentinelPassword: target.sentinelPassword } : {}),
    ...(target.tls ? { sentinelTLS: target.tls, enableTLSForSentinelMode: true } : {}),
  });
}

/** A client whose commands fail within COMMAND_TIMEOUT_MS, and at once while Redis is down. */
export function createCommandClient(target: RedisTarget): RedisClient {
  const client = createClient(target, 'commands');
  measureCommands(client);
  client.once('ready', () => {
    client.options.enableOfflineQueue = false;
  });
  return client;
}

/** A client whose publishes never reject (ioredis-internals.ts). */
export function createPublisher(target: RedisTarget): RedisClient {
  const client = createClient(target, 'publisher');
  measureCommands(client);
  ignorePublishFailures(client);
  return client;
}

/**
 * A client that restores its subscriptions after an outage and survives any message (ioredis-internals.ts).
 * @param onFault called with the reason for a dropped message or a refused subscription
 */
export function createSubscriber(target: RedisTarget, onFault: (fault: unknown) => void): RedisClient {
  const client = createClient(target, 'subscriber');
  guardListeners(client, onFault);
  keepSubscriptions(client, onFault);
  return client;
}
