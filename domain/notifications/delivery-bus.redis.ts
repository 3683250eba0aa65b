import { z } from 'zod';
import type { NotificationView } from '../kernel/live.js';
import { redisChannels } from '../kernel/redis-keys.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import type { Delivery, DeliveryBus, Subscription } from './delivery-bus.js';
import { createMemoryDeliveryBus } from './delivery-bus.memory.js';

/** Longest time `ready` waits for Redis to confirm a subscription, ms: Redis may be frozen. */
const READY_WITHIN_MS = 1_000;

const number = z.int().nonnegative();

/** A message between processes. Anybody can publish to Redis: only what we would have sent is passed on. */
const message = z.object({
  /** The process that published it, which has called its own listeners itself. */
  from: z.string(),
  delivery: z.object({
    memberNo: number,
    n: number,
    view: z.object({
      id: number,
      type: z.string(),
      content: z.string(),
      url: z.string(),
      publishedAt: z.tuple([number, number, number, number, number, number]),
      name: z.string(),
      checked: z.boolean(),
      del: z.boolean(),
    }) satisfies z.ZodType<NotificationView>,
  }),
});

/** Resolves when the promise is settled or the time (ms) is over. */
function settledWithin(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(done, done);
  });
}

/**
 * Deliveries across processes: one channel per member, subscribed to while it has listeners here. Local
 * listeners are called directly, so that they receive deliveries while Redis is down, and each only once.
 */
export class RedisDeliveryBus implements DeliveryBus {
  readonly #redis: RedisConnection;
  readonly #local = createMemoryDeliveryBus();
  readonly #prefix = Buffer.from(redisChannels.deliveries(''));
  /** Number of listeners here by member. */
  readonly #listeners = new Map<number, number>();
  /** By member: Redis's confirmation of the subscription to the member's channel. */
  readonly #subscribed = new Map<number, Promise<unknown>>();
  readonly #stopListening: () => void;

  constructor(redis: RedisConnection) {
    this.#redis = redis;
    redis.subscriber().on('messageBuffer', this.#onMessage);
    this.#stopListening = redis.on('up', () => this.#alignAll());
  }

  publish(delivery: Delivery): void {
    this.#local.publish(delivery);
    const payload = JSON.stringify({ from: this.#redis.processId, delivery });
    void this.#redis.publisher().publish(redisChannels.deliveries(delivery.memberNo), payload);
  }

  publishHere(delivery: Delivery): void {
    this.#local.publish(delivery);
  }

  subscribe(memberNo: number, listener: (delivery: Delivery) => void): Subscription {
    const local = this.#local.subscribe(memberNo, listener);
    this.#count(memberNo, 1);
    const subscribed = this.#subscribed.get(memberNo);
    let ended = false;
    return {
      ready: subscribed ? settledWithin(subscribed, READY_WITHIN_MS) : local.ready,
      end: () => {
        if (ended) return;
        ended = true;
        local.end();
        this.#count(memberNo, -1);
      },
    };
  }

  close(): void {
    this.#stopListening();
    this.#listeners.clear();
    this.#alignAll();
    this.#redis.subscriber().off('messageBuffer', this.#onMessage);
    this.#local.close();
  }

  #count(memberNo: number, change: 1 | -1): void {
    const count = (this.#listeners.get(memberNo) ?? 0) + change;
    if (count > 0) this.#listeners.set(memberNo, count);
    else this.#listeners.delete(memberNo);
    this.#align(memberNo);
  }

  #alignAll(): void {
    for (const memberNo of new Set([...this.#listeners.keys(), ...this.#subscribed.keys()])) {
      this.#align(memberNo);
    }
  }

  /** Subscribes or unsubscribes as the member's listeners require; while Redis is down, once it is up again. */
  #align(memberNo: number): void {
    const subscriber = this.#redis.subscriber();
    if (subscriber.status !== 'ready') return;
    const channel = redisChannels.deliveries(memberNo);
    const isWanted = this.#listeners.has(memberNo);
    if (isWanted === this.#subscribed.has(memberNo)) return;
    if (isWanted) {
      const subscribed = subscriber.subscribe(channel);
      this.#subscribed.set(memberNo, subscribed);
      subscribed.catch(() => {
        if (this.#subscribed.get(memberNo) === subscribed) this.#subscribed.delete(memberNo);
      });
    } else {
      this.#subscribed.delete(memberNo);
      void subscriber.unsubscribe(channel);
    }
  }

  readonly #onMessage = (channel: Buffer, payload: Buffer): void => {
    if (!channel.subarray(0, this.#prefix.length).equals(this.#prefix)) return;
    const { from, delivery } = message.parse(JSON.parse(payload.toString()));
    if (from === this.#redis.processId) return;
    if (channel.toString() !== redisChannels.deliveries(delivery.memberNo)) {
      throw new Error('a delivery on the channel of another member');
    }
    this.#local.publish(delivery);
  };
}
