import { createAdapter, createShardedAdapter } from '@socket.io/redis-adapter';
import { z } from 'zod';
import { redisChannels } from '../../kernel/redis-keys.js';
import { chatNoOf, memberNoOf } from '../../kernel/socket-rooms.js';
import type { RedisConnection } from '../redis/connection.js';
import { RejectedMessage } from '../redis/sealed-messages.js';

/** Which of the two Redis adapters: `classic` for one Redis, `sharded` for Redis 7 and Redis Cluster. */
export type AdapterKind = 'classic' | 'sharded';

/** The way of pushes between processes. */
export interface SocketBus {
  /** For `new Server({ adapter })`. */
  adapter: ReturnType<typeof createAdapter> | ReturnType<typeof createShardedAdapter>;
  /** Whether only processes with our key can push. */
  isSigned: boolean;
  /**
   * Calls back with what other processes push to a room.
   * @param isHere whether a socket of this process is in a Socket.IO room: pushes to other rooms are ignored
   * @param take may throw: the push is then dropped and counted
   * @param dropped called with the room of a push that is dropped, as those of processes with another key or version
   */
  receive(
    isHere: (room: string) => boolean,
    take: (room: string, data: unknown) => void,
    dropped: (room: string) => void,
  ): void;
}

/** Prefix of all channels of the namespace `/`; a room's channel continues with its name and ends with `#`. */
const ROOMS = `${redisChannels.sockets}#/#`;

const room = z.string();

/** A push as the sharded adapter publishes it: no request, no flag, one room. Type 3 is its BROADCAST. */
const shardedBroadcast = z.strictObject({
  type: z.literal(3),
  uid: z.string(),
  nsp: z.literal('/'),
  data: z.strictObject({
    packet: z.strictObject({ type: z.literal(2), nsp: z.literal('/').optional(), data: z.unknown() }),
    opts: z.strictObject({ rooms: z.tuple([room]), except: z.tuple([]), flags: z.strictObject({}) }),
  }),
});

function refuse(channel: string): never {
  throw new RejectedMessage('unknown', `on ${channel}, which no process of ours publishes to`);
}

/** The room of a channel. @throws RejectedMessage for the adapter's other channels */
function roomOf(channel: string): string {
  const name = channel.slice(ROOMS.length, -1);
  return Number.isSafeInteger(chatNoOf(name) ?? memberNoOf(name)) ? name : refuse(channel);
}

const subscriptions = [
  ...(['subscribe', 'psubscribe', 'ssubscribe'] as const),
  ...(['unsubscribe', 'punsubscribe', 'sunsubscribe'] as const),
];

/**
 * The Redis clients as the adapter sees them. What it publishes is signed. It subscribes as rooms come and go,
 * but hears nothing: anybody could make it join, disconnect or list sockets, and send them anything.
 */
function clientsOf(redis: RedisConnection, isListening: boolean) {
  const client = redis.subscriber();
  const subscriber = subscriptions.map((name) => {
    const send = client[name].bind(client) as (...channels: string[]) => Promise<unknown>;
    return [name, (given: string | string[]) => void (isListening && send(...[given].flat()))];
  });
  const deaf = { on() {}, off() {} };
  return {
    publisher: {
      ...deaf,
      publish: (channel: string, text: string) => redis.publish(channel, text),
      spublish: (channel: string, text: string) => redis.publish(channel, text, 'spublish'),
    },
    subscriber: { ...deaf, ...Object.fromEntries(subscriber) },
  };
}

/**
 * The Socket.IO adapter that connects all processes over Redis, and what it brings: pushes to one room, and
 * nothing else. (docs/decisions/messages-between-processes.md)
 *
 * @param isListening false for a process without sockets
 */
export function createSocketBus(redis: RedisConnection, kind: AdapterKind, isListening = true): SocketBus {
  const { publisher, subscriber } = clientsOf(redis, isListening);
  const isOurs = (isHere: (room: string) => boolean) => (channel: string) =>
    channel.startsWith(ROOMS) && isHere(roomOf(channel));
  const common = { isSigned: redis.isSigned };
  if (kind === 'sharded') {
    // A channel for each room: with two for all rooms, every process would receive every push. Nobody waits until a room's is
    // subscribed to: what others send right after a join is found by the read after the join, and by the comparison.
    const options = { channelPrefix: redisChannels.sockets, subscriptionMode: 'dynamic' } as const;
    return {
      ...common,
      adapter: createShardedAdapter(publisher, subscriber, options),
      receive(isHere, take, dropped) {
        redis.listen(
          'smessageBuffer',
          isOurs(isHere),
          (channel, text) => take(roomOf(channel), shardedBroadcast.parse(JSON.parse(text)).data.packet.data),
          (channel) => dropped(roomOf(channel)),
        );
      },
    };
  }
  // The channel names the room, so that the event's data are all there is to publish.
  const parser = {
    encode: ([, packet]: [string, { data: unknown[] }]) => JSON.stringify(packet.data),
    decode: () => {
      throw new RejectedMessage('unknown', 'the adapter reads nothing');
    },
  };
  return {
    ...common,
    adapter: createAdapter(publisher, subscriber, { key: redisChannels.sockets, parser }),
    receive(isHere, take, dropped) {
      redis.listen(
        'pmessageBuffer',
        isOurs(isHere),
        (channel, text) => take(roomOf(channel), JSON.parse(text)),
        (channel) => dropped(roomOf(channel)),
      );
      // The channels of requests and responses, which no process of ours makes.
      const isRequest = (channel: string) => channel.startsWith(`${redisChannels.sockets}-`);
      redis.listen('messageBuffer', isRequest, refuse);
    },
  };
}
