import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { metrics } from '../metrics.js';
import type { RedisTarget } from './url.js';

export type RedisClient = Redis | Cluster;

/** What a connection is for; each purpose fails in its own way. */
type Purpose = 'commands' | 'publisher' | 'subscriber';

/** Longest time, in ms, a command waits for its answer. */
export const COMMAND_TIMEOUT_MS = 1_000;

/** Time, in ms, after which a connection that owes an answer and is silent is given up, by purpose. */
const SILENCE_MS: Record<Purpose, number> = { commands: 3_000, publisher: 2_000, subscriber: 5_000 };

/** Longest pause, in ms, between two attempts to connect. */
const MAX_RETRY_DELAY_MS = 2_000;

/** A server that refuses writes is left for its master at most this often, in ms. */
const READONLY_EVERY_MS = 1_000;

/** Largest message taken from others, in bytes: several times the longest of ours. */
const MAX_MESSAGE = 1024 * 1024;

/** Doubles from 50 ms to the cap, with jitter so that processes do not return in step. */
function retryDelay(attempt: number): number {
  const delay = Math.min(MAX_RETRY_DELAY_MS, 50 * 2 ** Math.min(attempt, 10));
  return Math.round(delay * (0.5 + Math.random() / 2));
}

/** After a failover the old master is a read-only replica: connecting anew finds the new one. */
function createReadonlyPolicy(): (error: Error) => boolean {
  let left = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!error.message.startsWith('READONLY') || performance.now() - left < READONLY_EVERY_MS) return false;
    left = performance.now();
    return true;
  };
}

/** What every connection of a purpose has, to a single server as to a node of a cluster. */
function connectionOptions(target: RedisTarget, purpose: Purpose): RedisOptions {
  const subscribing = purpose === 'subscriber';
  return {
    ...(target.username === undefined ? {} : { username: target.username }),
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(target.tls ? { tls: target.tls } : {}),
    connectionName: `adoption-${purpose}`,
    connectTimeout: 3_000,
    keepAlive: 10_000,
    // A subscriber's own commands wait for the connection as long as it takes; what the others were
    // asked while Redis was away is told failed at once, so that nothing stale follows an outage.
    maxRetriesPerRequest: subscribing ? null : 0,
    autoResendUnfulfilledCommands: subscribing,
    socketTimeout: SILENCE_MS[purpose],
    ...(purpose === 'commands' ? { commandTimeout: COMMAND_TIMEOUT_MS } : {}),
    reconnectOnError: createReadonlyPolicy(),
  };
}

function createClient(target: RedisTarget, purpose: Purpose): RedisClient {
  const options = connectionOptions(target, purpose);
  // Commands may wait for the very first connection (up to their time-out), publishes never.
  const enableOfflineQueue = purpose !== 'publisher';
  if (target.kind === 'cluster') {
    return new Cluster(target.addresses, {
      redisOptions: options,
      enableOfflineQueue,
      clusterRetryStrategy: retryDelay,
      slotsRefreshTimeout: 2_000,
      slotsRefreshInterval: 10_000,
      shardedSubscribers: purpose === 'subscriber',
      // Names of a TLS certificate are checked against the host that was asked for.
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

/** A client for ordinary commands: they fail within COMMAND_TIMEOUT_MS, and at once while Redis is away. */
export function createCommandClient(target: RedisTarget): RedisClient {
  const client = createClient(target, 'commands');
  client.once('ready', () => {
    client.options.enableOfflineQueue = false;
  });
  return client;
}

type Send = (...args: unknown[]) => Promise<unknown>;

/**
 * A client whose `publish` and `spublish` never reject: nobody awaits them (the Socket.IO adapter does
 * not), and what they carry is a hint about what is stored. Failures are counted; they resolve to 0,
 * the number of receivers.
 */
export function createPublisher(target: RedisTarget): RedisClient {
  const client = createClient(target, 'publisher');
  const methods = client as unknown as Record<'publish' | 'spublish', Send>;
  for (const name of ['publish', 'spublish'] as const) {
    const send = methods[name].bind(client);
    methods[name] = (...args) =>
      send(...args).catch(() => {
        metrics.redisPublishFailures.inc();
        return 0;
      });
  }
  return client;
}

const SUBSCRIPTIONS = [
  'subscribe',
  'psubscribe',
  'ssubscribe',
  'unsubscribe',
  'punsubscribe',
  'sunsubscribe',
] as const;

/** ioredis emits each message under both names of its kind. */
const MESSAGES: ReadonlySet<unknown> = new Set(
  ['message', 'pmessage', 'smessage'].flatMap((name) => [name, `${name}Buffer`]),
);

/**
 * A client that subscribes again by itself after an outage, and that no message can bring down: a
 * listener that throws or rejects (the Socket.IO adapter's do, on malformed bytes) costs that one
 * message, as does one of more than MAX_MESSAGE bytes. Both are counted.
 *
 * @param onFault told why a message was dropped, or a subscription refused
 */
export function createSubscriber(target: RedisTarget, onFault: (fault: unknown) => void): RedisClient {
  const client = createClient(target, 'subscriber');
  const emit = client.emit.bind(client);

  function drop(error: unknown): void {
    metrics.redisMessagesDropped.inc();
    onFault(error);
  }

  function deliver(event: string, args: unknown[]): boolean {
    // Not the last argument: of a cluster's messages that is an undefined one too many.
    const payload = args[event.startsWith('p') ? 2 : 1] as string | Buffer;
    if (payload.length > MAX_MESSAGE) {
      // Once a message: it is emitted a second time as text where somebody listens for text.
      if (Buffer.isBuffer(payload)) drop(new Error(`a message of ${payload.length} bytes`));
      return true;
    }
    const listeners = client.rawListeners(event) as ((...args: unknown[]) => unknown)[];
    for (const listener of listeners) {
      try {
        const result = listener.apply(client, args);
        if (result instanceof Promise) result.catch(drop);
      } catch (error) {
        drop(error);
      }
    }
    return listeners.length > 0;
  }

  // Here and not around `on`, so that `off` goes on knowing the listeners it was given.
  client.emit = ((event: string | symbol, ...args: unknown[]) =>
    MESSAGES.has(event) ? deliver(event as string, args) : emit(event, ...args)) as typeof client.emit;

  /** What is subscribed to, by the command that does it. */
  const wanted = {
    subscribe: new Set<string>(),
    psubscribe: new Set<string>(),
    ssubscribe: new Set<string>(),
  };

  /** Keeps in mind what a call wants; its channels come one by one or as lists. */
  function remember(name: (typeof SUBSCRIPTIONS)[number], args: unknown[]): void {
    const channels = args.flat().map(String);
    const set = wanted[name.replace('un', '') as keyof typeof wanted];
    for (const channel of channels) {
      if (name.includes('un')) set.delete(channel);
      else set.add(channel);
    }
  }

  const methods = client as unknown as Record<(typeof SUBSCRIPTIONS)[number], Send>;
  // ioredis subscribes again by itself, but only to what stood when the connection was lost: what a
  // server refused once (an ACL, a cut in the middle of it) would be forgotten for good.
  client.on('ready', () => {
    for (const name of ['subscribe', 'psubscribe'] as const) {
      if (wanted[name].size > 0) void methods[name](...wanted[name]);
    }
    // One by one: in a cluster they are of many slots.
    for (const channel of wanted.ssubscribe) void methods.ssubscribe(channel);
  });
  for (const name of SUBSCRIPTIONS) {
    const send = methods[name].bind(client);
    methods[name] = (...args) => {
      remember(name, args);
      const sent = send(...args);
      // ioredis and the adapter let these go unawaited; who does await them still learns of it.
      sent.catch(onFault);
      return sent;
    };
  }
  return client;
}
