import { z } from 'zod';
import { notificationView } from '../kernel/live.js';
import { redisChannels } from '../kernel/redis-keys.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import type { Delivery, DeliveryBus, DeliveryListener, Subscription } from './delivery-bus.js';
import { MemoryDeliveryBus } from './delivery-bus.memory.js';

/** Longest time `ready` waits for Redis to confirm a subscription, ms: Redis may be frozen. */
const READY_WITHIN_MS = 1_000;

const number = z.int().nonnegative();

/** Between processes. Whoever publishes it, only what we would have sent is passed on. */
const message: z.ZodType<Delivery> = z.object({
  memberNo: number,
  n: number,
  publishedAt: number,
  view: notificationView,
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

/** Callbacks for deliveries of other processes. */
export interface BusEvents {
  /** One has reached the listeners. */
  delivered(notificationId: number): void;
  /** One came that anybody may have published: it was not passed on, but the database may hold it. */
  unsigned(): void;
}

/**
 * Deliveries across processes: one channel per member, subscribed to while it has listeners here. Local
 * listeners are called directly, so that they receive deliveries while Redis is down. A delivery that is not
 * signed is only announced: anybody may have published it.
 */
export class RedisDeliveryBus implements DeliveryBus {
  readonly #redis: RedisConnection;
  readonly #local = new MemoryDeliveryBus();
  readonly #heard: BusEvents;
  /** Number of listeners here by member. */
  readonly #listeners = new Map<number, number>();
  /** By member: Redis's confirmation of the subscription to the member's channel. */
  readonly #subscribed = new Map<number, Promise<unknown>>();
  readonly #stopListening: (() => void)[];

  constructor(redis: RedisConnection, heard: BusEvents) {
    this.#redis = redis;
    this.#heard = heard;
    const prefix = redisChannels.deliveries('');
    this.#stopListening = [
      redis.listen('messageBuffer', (channel) => channel.startsWith(prefix), this.#onMessage),
      redis.on('up', () => this.#alignAll()),
    ];
  }

  publish(delivery: Delivery): void {
    this.#local.publish(delivery);
    void this.#redis.publish(redisChannels.deliveries(delivery.memberNo), JSON.stringify(delivery));
  }

  publishHere(delivery: Delivery): boolean {
    return this.#local.publishHere(delivery);
  }

  subscribe(memberNo: number, listener: DeliveryListener): Subscription {
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

  hasListener(memberNo: number): boolean {
    return this.#listeners.has(memberNo);
  }

  close(): void {
    for (const stop of this.#stopListening) stop();
    this.#listeners.clear();
    this.#alignAll();
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

  readonly #onMessage = (channel: string, text: string): void => {
    const delivery = message.parse(JSON.parse(text));
    if (channel !== redisChannels.deliveries(delivery.memberNo)) {
      throw new Error('a delivery on the channel of another member');
    }
    if (!this.#redis.isSigned) {
      this.#heard.unsigned();
      return;
    }
    this.#local.publish(delivery);
    this.#heard.delivered(delivery.view.id);
  };
}
