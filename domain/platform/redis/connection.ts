import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { AppError } from '../../kernel/errors.js';
import { redisChannels, redisKeys } from '../../kernel/redis-keys.js';
import type { Logger } from '../logger.js';
import { metrics } from '../metrics.js';
import { coalesce } from '../single-flight.js';
import {
  COMMAND_TIMEOUT_MS,
  createCommandClient,
  createPublisher,
  createSubscriber,
  type RedisClient,
} from './clients.js';
import { RedisEcho } from './echo.js';
import { parseRedisUrl, type RedisTarget } from './url.js';

export type { RedisClient } from './clients.js';

/** Health check interval, ms: one write and one pub/sub echo. */
const CHECK_EVERY_MS = 2_000;

/** Lifetime, ms, of the key that a check writes. */
const ALIVE_FOR_MS = 10_000;

/** Refused commands are logged at most once in this time, ms. */
const FAULT_EVERY_MS = 5_000;

/** Errors of a server that cannot work at the moment, as opposed to those of a bad command. */
const UNABLE =
  /^(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM|BUSY|NOAUTH|WRONGPASS)/;

/**
 * The process's connections to Redis: three clients that reconnect in the background, and a health check.
 * Whatever the state of Redis (never up, down, frozen, read-only, cut off), the process survives and no call
 * waits longer than COMMAND_TIMEOUT_MS.
 */
export class RedisConnection {
  /** Unique per connection: distinguishes this process in keys and channels. */
  readonly processId = randomBytes(9).toString('base64url');
  /** For ordinary commands, which reject within a second. Most callers want `ask`. */
  readonly commands: RedisClient;
  readonly #publisher: RedisClient;
  readonly #subscriber: RedisClient;
  readonly #echo: RedisEcho;
  readonly #logger: Logger;
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #timer: NodeJS.Timeout;
  /** Commands are answered. */
  #answering = false;
  /** Published messages reach the subscriber. */
  #echoing = false;
  #up = false;
  #closed = false;
  /** Connections lost so far: a check during which one is lost proves nothing. */
  #losses = 0;
  #reason = 'not connected yet';
  #lastFaultAt = Number.NEGATIVE_INFINITY;

  constructor(target: RedisTarget, logger: Logger) {
    this.#logger = logger;
    this.commands = createCommandClient(target);
    this.#publisher = createPublisher(target);
    this.#subscriber = createSubscriber(target, (fault) => {
      if (!this.#closed) logger.warn({ err: fault }, 'a Redis message was dropped, or a subscription failed');
    });
    this.#echo = new RedisEcho(this.#publisher, this.#subscriber, redisChannels.echo(this.processId), {
      ordered: target.kind !== 'cluster',
      timeoutMs: COMMAND_TIMEOUT_MS,
    });
    this.#watch(this.commands, () => {
      this.#answering = false;
    });
    for (const client of [this.#publisher, this.#subscriber]) {
      this.#watch(client, () => {
        this.#echoing = false;
      });
    }
    this.#timer = setInterval(() => void this.#check(), CHECK_EVERY_MS).unref();
  }

  #watch(client: RedisClient, onLoss: () => void): void {
    client.on('error', (error) => {
      this.#noteReason(error);
      this.#logger.debug({ reason: this.#reason }, 'a Redis connection failed');
    });
    client.on('close', () => {
      this.#losses += 1;
      onLoss();
      this.#update();
    });
    client.on('ready', () => void this.#check());
  }

  /** Keeps the message only: ioredis attaches the failed command to its errors, with the password for AUTH. */
  #noteReason(error: unknown): void {
    this.#reason = error instanceof Error ? error.message : String(error);
  }

  /** Reports a change of state. */
  #update(): void {
    const up = this.#answering && this.#echoing && !this.#closed;
    if (up === this.#up) return;
    this.#up = up;
    metrics.redisUp.set(up ? 1 : 0);
    if (this.#closed) return;
    if (up) this.#logger.info('Redis is up');
    else this.#logger.warn({ reason: this.#reason }, 'Redis is down: processes cannot reach each other');
    this.#events.emit(up ? 'up' : 'down');
  }

  readonly #check = coalesce<void, void>(async () => {
    if (this.#closed) return;
    const losses = this.#losses;
    const [answering, echoing] = await Promise.all([this.#canWrite(), this.#echo.send()]);
    if (losses !== this.#losses) return;
    this.#answering = answering;
    this.#echoing = echoing;
    this.#update();
  });

  /** A write, not a PING, which a replica answers as well. */
  async #canWrite(): Promise<boolean> {
    try {
      await this.commands.set(redisKeys.alive(this.processId), 1, 'PX', ALIVE_FOR_MS);
      return true;
    } catch (error) {
      this.#noteReason(error);
      return false;
    }
  }

  /** Whether commands are known to be unanswered; true until the first connection. */
  get down(): boolean {
    return !this.#answering || this.#closed;
  }

  /**
   * Runs commands for a caller that can do without the result.
   * @returns undefined, never a rejection, when Redis is down (at once) or fails
   */
  async ask<T>(question: (commands: RedisClient) => Promise<T>): Promise<T | undefined> {
    if (this.down) return undefined;
    try {
      return await question(this.commands);
    } catch (error) {
      this.#noteReason(error);
      if (error instanceof Error && error.name === 'ReplyError' && !UNABLE.test(error.message)) {
        this.#logFault();
        return undefined;
      }
      // Other callers need not wait for the time-out, until a check succeeds.
      this.#answering = false;
      this.#update();
      return undefined;
    }
  }

  #logFault(): void {
    const now = performance.now();
    if (now - this.#lastFaultAt <= FAULT_EVERY_MS) return;
    this.#lastFaultAt = now;
    this.#logger.error({ reason: this.#reason }, 'Redis refused a command');
  }

  /** For publishing, which never rejects. */
  publisher(): RedisClient {
    return this.#publisher;
  }

  /** For subscribing: it resubscribes after an outage; a listener that throws loses that message only. */
  subscriber(): RedisClient {
    return this.#subscriber;
  }

  /**
   * `up`: commands are answered and published messages arrive (again); also emitted for the first connection
   * and for unnoticed interruptions. Messages may have been missed before. `down`: the opposite.
   *
   * @param listener must not throw
   * @returns a function that removes the listener
   */
  on(event: 'down' | 'up', listener: () => void): () => void {
    this.#events.on(event, listener);
    return () => this.#events.off(event, listener);
  }

  /** Waits for the first connection, `withinMs` at most. @returns whether it is up */
  connected(withinMs: number): Promise<boolean> {
    if (this.#up) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (reached: boolean) => {
        clearTimeout(timer);
        off();
        resolve(reached);
      };
      const timer = setTimeout(() => done(false), withinMs);
      const off = this.on('up', () => done(true));
    });
  }

  /** Checks commands and echo now. @throws AppError SERVICE_UNAVAILABLE */
  async ping(): Promise<void> {
    await this.#check();
    if (this.#up) return;
    const cause = new Error(this.#reason);
    throw new AppError('SERVICE_UNAVAILABLE', 'Redis does not answer', { cause });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#update();
    // Data already written to the sockets is still sent before they close.
    for (const client of [this.commands, this.#publisher, this.#subscriber]) client.disconnect();
  }
}

/** Connects in the background. @param url a valid REDIS_URL (url.ts) */
export function connectRedis(url: string, logger: Logger): RedisConnection {
  return new RedisConnection(parseRedisUrl(url), logger);
}
