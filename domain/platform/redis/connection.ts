import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { AppError } from '../../kernel/errors.js';
import { redisChannels, redisKeys } from '../../kernel/redis-keys.js';
import type { Logger } from '../logger.js';
import { metrics } from '../metrics.js';
import {
  COMMAND_TIMEOUT_MS,
  createCommandClient,
  createPublisher,
  createSubscriber,
  type RedisClient,
} from './clients.js';
import { createEcho } from './echo.js';
import { parseRedisUrl } from './url.js';

export type { RedisClient } from './clients.js';

/** How often, in ms, it is looked whether Redis takes writes and what is published comes back. */
const CHECK_EVERY_MS = 2_000;

/** How long, in ms, the key of a process that lives stays. */
const ALIVE_FOR_MS = 10_000;

/** Time, in ms, in which a command that Redis refuses is logged once: what is wrong with one is with all. */
const FAULT_EVERY_MS = 5_000;

/** Refusals of a server that cannot do its work right now, as opposed to those of a bad command. */
const UNABLE =
  /^(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM|BUSY|NOAUTH|WRONGPASS)/;

/**
 * The process's connections to Redis. Whatever Redis does (never up, away, frozen, read-only, cutting
 * us off) nothing here ends the process and nothing waits longer than COMMAND_TIMEOUT_MS.
 */
export interface RedisConnection {
  /** Tells this process from all others in keys and channels; new with every connection. */
  readonly processId: string;
  /** For ordinary commands, which reject within a second. Most callers want `ask`. */
  readonly commands: RedisClient;
  /** True from the first sign that commands go unanswered until they are answered again; true at first. */
  readonly away: boolean;
  /** True while what is published does not come back to the subscriber; true at first. */
  readonly deaf: boolean;
  /**
   * Asks Redis something for which the caller has an answer of its own: resolves to undefined, never
   * rejects, when Redis is away (at once) or fails.
   */
  ask<T>(question: (commands: RedisClient) => Promise<T>): Promise<T | undefined>;
  /** For publishing, which never rejects. */
  publisher(): RedisClient;
  /**
   * For subscribing. It subscribes again by itself after an outage, and listeners may throw: that costs
   * them the message.
   */
  subscriber(): RedisClient;
  /**
   * `back`: commands are answered and messages heard again, also after an interruption that was over
   * before anybody asked, and when Redis is reached for the first time. Messages may have been missed
   * before it. `away`: the opposite. Listeners must not throw. @returns a function that ends the listening
   */
  on(event: 'away' | 'back', listener: () => void): () => void;
  /** Waits for the first connection. @returns false when it is not there in time (ms) */
  connected(withinMs: number): Promise<boolean>;
  /** Resolves when commands are answered and messages heard. @throws AppError SERVICE_UNAVAILABLE */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects in the background, now and whenever the connection is lost.
 *
 * @param url a valid REDIS_URL (platform/redis-url tells its forms)
 */
export function connectRedis(url: string, logger: Logger): RedisConnection {
  const target = parseRedisUrl(url);
  const processId = randomBytes(9).toString('base64url');
  const events = new EventEmitter().setMaxListeners(0);
  let answering = false;
  let hearing = false;
  let up = false;
  let closed = false;
  /** Counts connections lost: what was found out before one says nothing about the time after it. */
  let losses = 0;
  let reason = 'not connected yet';
  let lastFaultAt = Number.NEGATIVE_INFINITY;

  const commands = createCommandClient(target);
  const publisher = createPublisher(target);
  const subscriber = createSubscriber(target, (fault) => {
    if (!closed) logger.warn({ err: fault }, 'a message from Redis was dropped, or a subscription failed');
  });
  const echo = createEcho(
    publisher,
    subscriber,
    redisChannels.echo(processId),
    target.kind !== 'cluster',
    COMMAND_TIMEOUT_MS,
  );

  /** The message alone: ioredis hangs the failed command on its errors, of AUTH with the password. */
  function remember(error: unknown): void {
    reason = error instanceof Error ? error.message : String(error);
  }

  function settle(): void {
    const now = answering && hearing && !closed;
    if (now === up) return;
    up = now;
    metrics.redisUp.set(up ? 1 : 0);
    if (closed) return;
    if (up) logger.info('Redis is reached');
    else logger.warn({ reason }, 'Redis is away: processes do not hear of each other');
    events.emit(up ? 'back' : 'away');
  }

  /** A write and not a PING: a replica answers that, too. */
  async function answers(): Promise<boolean> {
    try {
      await commands.set(redisKeys.alive(processId), 1, 'PX', ALIVE_FOR_MS);
      return true;
    } catch (error) {
      remember(error);
      return false;
    }
  }

  async function checkOnce(): Promise<void> {
    const before = losses;
    const [answered, heard] = await Promise.all([answers(), echo.heard()]);
    if (losses !== before) return;
    answering = answered;
    hearing = heard;
    settle();
  }

  let checking: Promise<void> | undefined;
  let checkAgain = false;

  /** One look at a time; what asks for one meanwhile gets another behind it. */
  async function check(): Promise<void> {
    checkAgain = true;
    checking ??= (async () => {
      while (checkAgain && !closed) {
        checkAgain = false;
        await checkOnce();
      }
      checking = undefined;
    })();
    await checking;
  }

  function watch(client: RedisClient, onLoss: () => void): void {
    client.on('error', (error) => {
      remember(error);
      logger.debug({ reason }, 'a Redis connection failed');
    });
    client.on('close', () => {
      losses += 1;
      onLoss();
      settle();
    });
    client.on('ready', () => void check());
  }

  watch(commands, () => {
    answering = false;
  });
  watch(publisher, () => {
    hearing = false;
  });
  watch(subscriber, () => {
    hearing = false;
  });
  const timer = setInterval(() => void check(), CHECK_EVERY_MS);
  timer.unref();

  const connection: RedisConnection = {
    processId,
    commands,
    get away() {
      return !answering || closed;
    },
    get deaf() {
      return !hearing || closed;
    },

    async ask(question) {
      if (!answering || closed) return undefined;
      try {
        return await question(commands);
      } catch (error) {
        remember(error);
        if (error instanceof Error && error.name === 'ReplyError' && !UNABLE.test(error.message)) {
          const now = performance.now();
          if (now - lastFaultAt > FAULT_EVERY_MS) {
            lastFaultAt = now;
            logger.error({ reason }, 'Redis refused a command');
          }
          return undefined;
        }
        // The first that waits in vain spares the others the wait; the next look may find it back.
        answering = false;
        settle();
        return undefined;
      }
    },

    publisher: () => publisher,
    subscriber: () => subscriber,

    on(event, listener) {
      events.on(event, listener);
      return () => events.off(event, listener);
    },

    connected(withinMs) {
      if (up) return Promise.resolve(true);
      return new Promise((resolve) => {
        const done = (reached: boolean) => {
          clearTimeout(late);
          off();
          resolve(reached);
        };
        const late = setTimeout(() => done(false), withinMs);
        const off = connection.on('back', () => done(true));
      });
    },

    async ping() {
      await check();
      if (!up)
        throw new AppError('SERVICE_UNAVAILABLE', 'Redis does not answer', { cause: new Error(reason) });
    },

    async close() {
      if (closed) return;
      closed = true;
      clearInterval(timer);
      settle();
      // What the system has taken still arrives: the connection ends after it.
      for (const client of [commands, publisher, subscriber]) client.disconnect();
    },
  };
  return connection;
}
