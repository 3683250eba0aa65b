import type { RedisClient } from './clients.js';

/** So many echoes missed on a connection that looks alive, and the subscriber connects anew. */
const MAX_MISSED = 3;

/** Proves that the path through Redis lives: what we publish comes back to us. */
export interface Echo {
  /** Publishes to ourselves. @returns whether it came back in time */
  heard(): Promise<boolean>;
}

/**
 * @param channel of this process alone
 * @param ordered whether a server answers a connection in the order it was asked; not so of a cluster
 * @param withinMs time for the way there and back
 */
export function createEcho(
  publisher: RedisClient,
  subscriber: RedisClient,
  channel: string,
  ordered: boolean,
  withinMs: number,
): Echo {
  const own = Buffer.from(channel);
  let nonce = 0;
  let settle = () => {};
  let missed = 0;

  subscriber.on('messageBuffer', (from: Buffer, message: Buffer) => {
    if (from.equals(own) && Number(message) === nonce) settle();
  });
  void subscriber.subscribe(channel);

  async function publish(number: number): Promise<void> {
    try {
      // What was subscribed again after an outage stands when a command sent behind it is answered.
      if (ordered) await subscriber.ping();
      await publisher.publish(channel, String(number));
    } catch {
      // The subscriber was cut off meanwhile, which its owner has seen.
    }
  }

  function send(): Promise<boolean> {
    nonce += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), withinMs);
      settle = () => {
        clearTimeout(timer);
        resolve(true);
      };
      void publish(nonce);
    });
  }

  return {
    async heard() {
      if (subscriber.status !== 'ready') return false;
      const heard = await send();
      // Half-open, or left on what was the master: it looks connected and hears nothing.
      missed = heard ? 0 : missed + 1;
      if (missed >= MAX_MISSED && subscriber.status === 'ready') {
        missed = 0;
        subscriber.disconnect(true);
      }
      return heard;
    },
  };
}
