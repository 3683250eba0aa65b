import { z } from 'zod';
import type { NotificationView } from '../kernel/live.js';
import { redisChannels } from '../kernel/redis-keys.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import type { DeliveryBus } from './delivery-bus.js';
import { createMemoryDeliveryBus } from './delivery-bus.memory.js';

/** Longest time, in ms, a listener waits for its subscription: Redis may be frozen. */
const READY_WITHIN_MS = 1_000;

const number = z.int().nonnegative();

/** What another process says. Anybody can publish: nothing is passed on that we would not have sent. */
const message = z.object({
  /** The process that says it, which has told its own listeners itself. */
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

/** Resolves with the promise, whatever becomes of it, or when the time (ms) is over. */
function settled(promise: Promise<unknown>, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, withinMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(done, done);
  });
}

/**
 * Wake-ups of all processes: one channel a member, subscribed to while somebody here listens. Listeners
 * here are told directly, so that they are while Redis is away, and only once.
 */
export function createRedisDeliveryBus(redis: RedisConnection): DeliveryBus {
  const local = createMemoryDeliveryBus();
  const publisher = redis.publisher();
  const subscriber = redis.subscriber();
  const prefix = Buffer.from(redisChannels.wakeUps(''));
  /** Listeners of each member here. */
  const wanted = new Map<number, number>();
  /** Members whose channel we have subscribed to, and whether it stands. */
  const standing = new Map<number, Promise<unknown>>();

  /** Brings one subscription in line with what is wanted. While Redis is away it waits for `back`. */
  function align(memberNo: number): void {
    if (subscriber.status !== 'ready') return;
    const channel = redisChannels.wakeUps(memberNo);
    if (wanted.has(memberNo) && !standing.has(memberNo)) {
      const subscribed = subscriber.subscribe(channel);
      standing.set(memberNo, subscribed);
      subscribed.catch(() => {
        if (standing.get(memberNo) === subscribed) standing.delete(memberNo);
      });
    } else if (!wanted.has(memberNo) && standing.has(memberNo)) {
      standing.delete(memberNo);
      void subscriber.unsubscribe(channel);
    }
  }

  function onMessage(channel: Buffer, payload: Buffer): void {
    if (!channel.subarray(0, prefix.length).equals(prefix)) return;
    const { from, delivery } = message.parse(JSON.parse(payload.toString()));
    if (from === redis.processId) return;
    if (channel.toString() !== redisChannels.wakeUps(delivery.memberNo)) {
      throw new Error('wake-ups: a delivery of another member');
    }
    local.publish(delivery);
  }

  function alignAll(): void {
    for (const memberNo of new Set([...wanted.keys(), ...standing.keys()])) align(memberNo);
  }

  subscriber.on('messageBuffer', onMessage);
  const stopListening = redis.on('back', alignAll);

  return {
    publish(delivery) {
      local.publish(delivery);
      const said = JSON.stringify({ from: redis.processId, delivery });
      void publisher.publish(redisChannels.wakeUps(delivery.memberNo), said);
    },

    publishHere: local.publish,

    subscribe(memberNo, listener) {
      const { end } = local.subscribe(memberNo, listener);
      wanted.set(memberNo, (wanted.get(memberNo) ?? 0) + 1);
      align(memberNo);
      const subscribed = standing.get(memberNo);
      let ended = false;
      return {
        ready: subscribed ? settled(subscribed, READY_WITHIN_MS) : Promise.resolve(),
        end() {
          if (ended) return;
          ended = true;
          end();
          const left = (wanted.get(memberNo) ?? 1) - 1;
          if (left > 0) wanted.set(memberNo, left);
          else wanted.delete(memberNo);
          align(memberNo);
        },
      };
    },

    close() {
      stopListening();
      wanted.clear();
      alignAll();
      subscriber.off('messageBuffer', onMessage);
      local.close();
    },
  };
}
