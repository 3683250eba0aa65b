import { metrics, secondsSince } from '../observe/metrics.js';
import type { RedisClient } from './clients.js';
import { afterRunning } from './running-time.js';

/** Echoes missed in a row on a seemingly open connection, after which the subscriber reconnects. */
const MAX_MISSED = 3;

function passRefusal(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'ReplyError') throw error;
}

/** Checks the path through Redis: a published message must come back to the subscriber. */
export class RedisEcho {
  readonly #publisher: RedisClient;
  readonly #subscriber: RedisClient;
  readonly #channel: string;
  readonly #ordered: boolean;
  readonly #timeoutMs: number;
  #nonce = 0;
  /** When the last one was published (performance.now()). */
  #sentAt = 0;
  #received = () => {};
  #missed = 0;

  /**
   * @param channel of this process only
   * @param options.ordered whether a connection's commands are answered in order: not so in a cluster
   * @param options.timeoutMs for the way there and back
   */
  constructor(
    publisher: RedisClient,
    subscriber: RedisClient,
    channel: string,
    options: { ordered: boolean; timeoutMs: number },
  ) {
    this.#publisher = publisher;
    this.#subscriber = subscriber;
    this.#channel = channel;
    this.#ordered = options.ordered;
    this.#timeoutMs = options.timeoutMs;
    const own = Buffer.from(channel);
    subscriber.on('messageBuffer', (from: Buffer, message: Buffer) => {
      if (from.equals(own) && Number(message) === this.#nonce) this.#received();
    });
    void subscriber.subscribe(channel);
  }

  /** @returns whether the echo came back in time */
  async send(): Promise<boolean> {
    if (this.#subscriber.status !== 'ready') return false;
    const received = await this.#sendOnce();
    this.#missed = received ? 0 : this.#missed + 1;
    // Half-open, or connected to the former master.
    if (this.#missed >= MAX_MISSED && this.#subscriber.status === 'ready') {
      this.#missed = 0;
      this.#subscriber.disconnect(true);
    }
    return received;
  }

  #sendOnce(): Promise<boolean> {
    this.#nonce += 1;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let isOver = false;
      const keep = (next: NodeJS.Timeout) => {
        timer = next;
      };
      afterRunning(this.#timeoutMs, { isOver: () => isOver, keep }, () => {
        metrics.redisEchoesMissed.inc();
        resolve(false);
      });
      this.#received = () => {
        isOver = true;
        clearTimeout(timer);
        metrics.redisEcho.observe(secondsSince(this.#sentAt));
        resolve(true);
      };
      void this.#publish(this.#nonce);
    });
  }

  async #publish(nonce: number): Promise<void> {
    try {
      // Answered after all resubscriptions of a reconnect, which precede it on the connection.
      // Redis refuses even that while it cannot write to its disk: an answer all the same.
      if (this.#ordered) await this.#subscriber.ping().catch(passRefusal);
      this.#sentAt = performance.now();
      await this.#publisher.publish(this.#channel, String(nonce));
    } catch {
      // The subscriber was disconnected meanwhile, which its `close` event reports.
    }
  }
}
