import { mock } from 'node:test';
import { Server } from 'socket.io';
import type { Domain } from '../../domain/domain.js';
import { AppError } from '../../domain/kernel/errors.js';
import { Overload } from '../../domain/platform/process/overload.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import type { GatewayServer } from '../../gateway/connection/socket.js';
import { Gateway } from '../../gateway/server.js';
import { engineSetting } from '../support/engine.js';
import { type RawSocket, rawSocket } from '../support/raw-socket.js';
import { stopService } from '../support/service.js';
import { createWatchedLogger } from '../support/unexpected-errors.js';

/** A domain that stores nothing: the token `member-7` is member 7, who takes part in every room. */
function fakeDomain(log: unknown[][]) {
  return {
    overload: new Overload(createWatchedLogger(), 30),
    rateLimits: {
      take: async (budget: string, key: string | number): Promise<void> => void log.push([budget, key]),
    },
    members: {
      async authenticate(token: string) {
        const no = Number(/^member-(\d+)$/.exec(token)?.[1]);
        log.push(['authenticate', token]);
        if (!no) throw new AppError('UNAUTHORIZED', 'the access token is not valid');
        return { actor: { no }, expiresAt: Date.now() + 3_600_000 };
      },
    },
    chat: {
      noteClient: (...seen: unknown[]) => void log.push(['seen', ...seen]),
      requireParticipant: async (_actor: object, _chatNo: number): Promise<void> => {},
      enterRoom: async (_actor: object, _chatNo: number, _after: number | undefined, _socket: string) => ({
        ...{ messages: [], from: 'newest', more: false, seq: 0, present: [] },
        otherRead: { memberNo: 1, seq: 0 },
      }),
      leaveRoom: async (memberNo: number, chatNo: number): Promise<void> =>
        void log.push(['left', memberNo, chatNo]),
      knownHead: () => undefined,
      heads: async (chatNos: number[]) => {
        log.push(['compared', ...chatNos]);
        return [];
      },
      noteMessage() {},
      acceptPresence: () => true,
      checkPresence() {},
    },
    notifications: { acceptPush: () => true, pollSoon() {} },
  };
}

/** A Redis without other clients. */
class FakeRedis {
  readonly isSigned = true;
  /** What was published, in order. */
  readonly published: [command: string, channel: string, text: string][] = [];
  readonly #listeners: Parameters<RedisConnection['listen']>[] = [];

  readonly #subscriber = {
    psubscribe: async () => {},
    subscribe: async () => {},
    punsubscribe: async () => {},
    unsubscribe: async () => {},
    ssubscribe: async () => {},
    sunsubscribe: async () => {},
  };

  subscriber = () => this.#subscriber;
  on = () => () => {};

  async publish(channel: string, text: string, command = 'publish'): Promise<void> {
    this.published.push([command, channel, text]);
  }

  listen(...listener: Parameters<RedisConnection['listen']>): () => void {
    this.#listeners.push(listener);
    return () => {};
  }

  /** Another process has published a message. */
  hear(event: string, channel: string, text: string): void {
    for (const [name, wants, listener] of this.#listeners) {
      if (name === event && wants(channel)) listener(channel, text);
    }
  }
}

export type LoneGateway = Awaited<ReturnType<typeof startGateway>>;

const running = new Set<Gateway>();

/**
 * A gateway in this process on its own port, over a domain that stores nothing. Ends the service of this process, which
 * an earlier file may have left: Socket.IO replaces methods of a prototype that all gateways of a process share.
 * @param joined whether it runs as one of several, though the others are missing
 */
export async function startGateway(settings: Record<string, string> = {}, joined = false) {
  await stopService();
  const config = loadConfig({
    ...{ ...engineSetting, NODE_ENV: 'test', GATEWAY_PORT: '0', DRAIN_WINDOW_MS: '0' },
    ...settings,
  });
  const log: unknown[][] = [];
  const domain = fakeDomain(log);
  let io: GatewayServer | undefined;
  const { bind } = Server.prototype;
  const binding = mock.method(Server.prototype, 'bind', function (this: Server, engine: never) {
    io = this as GatewayServer;
    return bind.call(this, engine);
  });
  const redis = new FakeRedis();
  const shared = joined ? (redis as unknown as RedisConnection) : undefined;
  const gateway = await Gateway.open(config, createWatchedLogger(), shared);
  running.add(gateway);
  /** Whether it is ready; a test may replace it. */
  const readiness = { probe: async (): Promise<void> => {} };
  try {
    const port = await gateway.listen(domain as unknown as Domain, () => readiness.probe());
    return Object.assign(readiness, {
      ...{ gateway, domain, port, io: io as unknown as GatewayServer, base: `http://127.0.0.1:${port}` },
      /** Where it is one of several. */
      redis,
      /** Its calls of the domain, in order. */
      log,
    });
  } catch (error) {
    await gateway.close();
    running.delete(gateway);
    throw error;
  } finally {
    binding.mock.restore();
  }
}

/** A WebSocket of member 7 in room 1, without a client library. */
export async function joinRaw({ base }: LoneGateway): Promise<RawSocket> {
  const raw = await rawSocket(base);
  raw.send('40{"token":"member-7"}');
  await raw.next(/^40/);
  raw.send('420["room:join",{"chatNo":1}]');
  await raw.next(/^430\[\{"status":200/);
  return raw;
}

/** Stops all gateways that still run. */
export async function stopGateways(): Promise<void> {
  for (const gateway of running) {
    await gateway.drain();
    await gateway.close();
  }
  running.clear();
}
