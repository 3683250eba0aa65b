import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { AppError } from '../../kernel/errors.js';
import { redisChannels, redisKeys } from '../../kernel/redis-keys.js';
import { joinNext } from '../async/shared-runs.js';
import type { Logger } from '../observe/logger.js';
import { metrics } from '../observe/metrics.js';
import { inTraceOf, withTrace } from '../observe/tracing.js';
import {
  COMMAND_TIMEOUT_MS,
  createCommandClient,
  createPublisher,
  createSubscriber,
  type RedisClient,
} from './clients.js';
import { RedisEcho } from './echo.js';
import { StoreRefusals } from './refusals.js';
import { MessageSeal } from './sealed-messages.js';
import { parseRedisUrl, type RedisTarget } from './url.js';

export type { RedisClient } from './clients.js';

/** Health check interval, ms: one write and one pub/sub echo. */
const CHECK_EVERY_MS = 2_000;

/** Lifetime, ms, of the key that a check writes. */
const ALIVE_FOR_MS = 10_000;

/** Refused commands, and dropped messages, are logged at most once in this time, ms. */
const FAULT_EVERY_MS = 5_000;

/** Errors of a server that answers nothing at the moment, or is the wrong one, as opposed to those of a bad command. */
const UNABLE = /^(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|BUSY|NOAUTH|WRONGPASS)/;

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
  readonly #seal: MessageSeal;
  readonly #echo: RedisEcho;
  readonly #logger: Logger;
  /** Of the servers, without the password. */
  readonly #address: string;
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #refusals: StoreRefusals;
  readonly #timer: NodeJS.Timeout;
  readonly #stopWatching: (() => void)[];
  /** Publishes that Redis has not answered. */
  #publishing = 0;
  /** Commands are answered. */
  #answering = false;
  /** Published messages reach the subscriber. */
  #echoing = false;
  #up = false;
  #closed = false;
  /** Count of lost connections. A health check that spans a loss is inconclusive. */
  #losses = 0;
  #reason = 'not connected yet';
  #lastFaultAt = Number.NEGATIVE_INFINITY;
  #lastDropAt = Number.NEGATIVE_INFINITY;
  /** Dropped since the last that was logged. */
  #unlogged = 0;

  /** @param signingKey of all processes: what is published without it is dropped */
  constructor(target: RedisTarget, logger: Logger, signingKey: string | undefined) {
    this.#logger = logger;
    this.#address = target.addresses.map(({ host, port }) => `${host}:${port}`).join(',');
    this.#seal = new MessageSeal(this.processId, signingKey);
    this.commands = createCommandClient(target);
    this.#publisher = createPublisher(target);
    this.#subscriber = createSubscriber(target, (fault) => this.#logDrop(fault));
    this.#echo = new RedisEcho(this.#publisher, this.#subscriber, redisChannels.echo(this.processId), {
      ordered: target.kind !== 'cluster',
      timeoutMs: COMMAND_TIMEOUT_MS,
    });
    this.#refusals = new StoreRefusals(logger, () => this.#events.emit('stores'));
    this.#watch(this.commands, () => {
      this.#answering = false;
    });
    for (const client of [this.#publisher, this.#subscriber]) {
      this.#watch(client, () => {
        this.#echoing = false;
      });
    }
    this.#timer = setInterval(() => void this.#check(), CHECK_EVERY_MS).unref();
    this.#stopWatching = [
      metrics.queueLength.watch(() => this.#publishing, { queue: 'publish' }),
      metrics.redisUp.watch(() => (this.#up ? 1 : 0)),
      () => this.#refusals.close(),
    ];
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
    // Of a command: the connection's own error, which came before, says why.
    if (error instanceof Error && error.name === 'MaxRetriesPerRequestError') return;
    this.#reason = error instanceof Error ? error.message : String(error);
  }

  /** Reports a change of state. */
  #update(): void {
    const up = this.#answering && this.#echoing && !this.#closed;
    if (up === this.#up) return;
    this.#up = up;
    if (this.#closed) return;
    if (up) this.#logger.info('Redis is up');
    else this.#logger.warn({ reason: this.#reason }, 'Redis is down: processes cannot reach each other');
    this.#events.emit(up ? 'up' : 'down');
  }

  readonly #check = joinNext<void, void>(async () => {
    if (this.#closed) return;
    const losses = this.#losses;
    const [answering, echoing] = await Promise.all([this.#isAnswered(), this.#echo.send()]);
    if (losses !== this.#losses) return;
    this.#answering = answering;
    this.#echoing = echoing;
    this.#update();
  });

  /** A write, not a PING, which a replica answers as well. @returns whether it is the right server and answers */
  async #isAnswered(): Promise<boolean> {
    try {
      await this.commands.set(redisKeys.alive(this.processId), 1, 'PX', ALIVE_FOR_MS);
      this.#refusals.noteStored();
      return true;
    } catch (error) {
      this.#noteReason(error);
      return this.#refusals.note(error);
    }
  }

  /** Why Redis refuses to store (`OOM`, `MISCONF`, `NOREPLICAS`), although it answers and publishes. */
  get refusal(): string | undefined {
    return this.#refusals.current;
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
      if (this.#refusals.note(error)) return undefined;
      const isRefusal = error instanceof Error && error.name === 'ReplyError';
      if (isRefusal && !UNABLE.test(error.message)) {
        this.#logFault();
        return undefined;
      }
      // Other callers need not wait for the time-out, until a check succeeds.
      this.#answering = false;
      this.#update();
      // Perhaps only this process was too busy to hear the answer.
      if (!isRefusal) void this.#check();
      return undefined;
    }
  }

  #logFault(): void {
    const now = performance.now();
    if (now - this.#lastFaultAt <= FAULT_EVERY_MS) return;
    this.#lastFaultAt = now;
    this.#logger.error({ reason: this.#reason }, 'Redis refused a command');
  }

  #logDrop(fault: unknown): void {
    const now = performance.now();
    if (this.#closed) return;
    if (now - this.#lastDropAt <= FAULT_EVERY_MS) {
      this.#unlogged += 1;
      return;
    }
    this.#lastDropAt = now;
    const others = this.#unlogged;
    this.#unlogged = 0;
    this.#logger.warn({ err: fault, others }, 'a Redis message was dropped, or a subscription failed');
  }

  /** A line that says which Redis does not answer, and why; the password is not in it. */
  get fault(): string {
    return `Redis at ${this.#address} does not answer (${this.#reason})`;
  }

  /** Whether only messages of our processes arrive; otherwise anybody who reaches Redis may have published them. */
  get isSigned(): boolean {
    return this.#seal.isSigned;
  }

  /** Publishes to all processes, for their `listen`. Never rejects. @param command `spublish` for a shard channel */
  async publish(channel: string, text: string, command: 'publish' | 'spublish' = 'publish'): Promise<void> {
    this.#publishing += 1;
    await this.#publisher[command](channel, this.#seal.seal(channel, withTrace(text)));
    this.#publishing -= 1;
  }

  /**
   * Calls back with what other processes publish; without a signing key (`isSigned`), with what anybody
   * publishes. Otherwise messages without our signature are dropped and counted. So is, in either case, a message
   * for which a callback throws or rejects.
   *
   * @param event of `subscriber()`, whose channels the caller subscribes to
   * @param wants whether the caller handles a channel; may throw RejectedMessage
   * @param dropped called with the channel of a message without our signature, or for which `listener` throws
   * @returns a function that ends it
   */
  listen(
    event: 'messageBuffer' | 'pmessageBuffer' | 'smessageBuffer',
    wants: (channel: string) => boolean,
    listener: (channel: string, text: string) => unknown,
    dropped?: (channel: string) => void,
  ): () => void {
    const onMessage = (...args: Buffer[]) => {
      const [name, sealed] = (event === 'pmessageBuffer' ? args.slice(1) : args) as [Buffer, Buffer];
      const channel = name.toString();
      if (!wants(channel)) return undefined;
      try {
        const text = this.#seal.open(channel, sealed);
        if (text === undefined) return undefined;
        return inTraceOf(text, 'receive', (pushed) => listener(channel, pushed));
      } catch (error) {
        dropped?.(channel);
        throw error;
      }
    };
    this.#subscriber.on(event, onMessage);
    return () => this.#subscriber.off(event, onMessage);
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
   * and for unnoticed interruptions. Messages may have been missed before. `down`: the opposite. `stores`: Redis
   * stores again, after a `refusal`. `lost`: it has lost keys, as by a flush, or may have.
   *
   * @param listener must not throw
   * @returns a function that removes the listener
   */
  on(event: 'down' | 'up' | 'stores' | 'lost', listener: () => void): () => void {
    this.#events.on(event, listener);
    return () => this.#events.off(event, listener);
  }

  /** Whoever watches what it has written (`lost`) is told here. */
  noteLoss(): void {
    this.#events.emit('lost');
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
    for (const stop of this.#stopWatching) stop();
    this.#update();
    // Data already written to the sockets is still sent before they close.
    for (const client of [this.commands, this.#publisher, this.#subscriber]) client.disconnect();
  }
}

/** Connects in the background. @param url a valid REDIS_URL (url.ts) @param signingKey REDIS_SIGNING_KEY */
export function connectRedis(url: string, logger: Logger, signingKey?: string): RedisConnection {
  return new RedisConnection(parseRedisUrl(url), logger, signingKey);
}
