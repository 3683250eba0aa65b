import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { Server } from 'socket.io';
import type { Domain } from '../../domain/domain.js';
import type { Client as Caller } from '../../domain/kernel/client.js';
import { AppError } from '../../domain/kernel/errors.js';
import { type Config, loadConfig } from '../../domain/platform/config.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { Gateway } from '../../gateway/server.js';
import type { GatewayServer } from '../../gateway/socket.js';
import { createWatchedLogger } from '../support/unexpected-errors.js';

/** What a domain does that keeps nothing: the token `member-7` is member 7, and every room is theirs. */
function fakeDomain(log: unknown[][]) {
  return {
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
      recentClients: { touch: (caller: Caller, no: number) => void log.push(['seen', caller, no]) },
      requireParticipant: async (_actor: object, _chatNo: number): Promise<void> => {},
      enterRoom: async (_actor: object, _chatNo: number, _after: number | undefined, _socket: string) => ({
        ...{ messages: [], more: false, seq: 0, present: [] },
        otherRead: { memberNo: 1, seq: 0 },
      }),
      leaveRoom: async (memberNo: number, chatNo: number): Promise<void> =>
        void log.push(['left', memberNo, chatNo]),
      knownHead: () => undefined,
      heads: async () => [],
      setFollowed() {},
      noteMessage() {},
      acceptPresence: () => true,
    },
    notifications: { acceptPush: () => true },
  };
}

/** A Redis that nobody else is at. */
function fakeRedis(): RedisConnection {
  const client = () =>
    Object.assign(new EventEmitter(), {
      psubscribe: async () => {},
      subscribe: async () => {},
      punsubscribe: async () => {},
      unsubscribe: async () => {},
      publish: async () => 1,
      ssubscribe: async () => {},
      sunsubscribe: async () => {},
      spublish: async () => 1,
    });
  return { publisher: client, subscriber: client, on: () => () => {} } as unknown as RedisConnection;
}

export interface LoneGateway {
  gateway: Gateway;
  /** Its address. */
  base: string;
  port: number;
  io: GatewayServer;
  domain: ReturnType<typeof fakeDomain>;
  /** What it asked of the domain, in order. */
  log: unknown[][];
  /** What stands in the way of serving. */
  probe: () => Promise<void>;
}

const running = new Set<Gateway>();

/**
 * A gateway in this process on a port of its own, over a domain that keeps nothing.
 * @param joined whether it is one of several, which nobody else is at the moment
 */
export async function startGateway(
  settings: Record<string, string> = {},
  joined = false,
): Promise<LoneGateway> {
  const config: Config = loadConfig({
    NODE_ENV: 'test',
    GATEWAY_PORT: '0',
    DRAIN_WINDOW_MS: '0',
    ...settings,
  });
  const log: unknown[][] = [];
  const domain = fakeDomain(log);
  let io: GatewayServer | undefined;
  const attach = Server.prototype.attachApp;
  const attaching = mock.method(Server.prototype, 'attachApp', function (this: Server, app: never) {
    io = this as GatewayServer;
    attach.call(this, app);
  });
  const gateway = new Gateway(config, createWatchedLogger(), joined ? fakeRedis() : undefined);
  running.add(gateway);
  const made = { gateway, domain, log, probe: async () => {} };
  let port: number;
  try {
    port = await gateway.listen(domain as unknown as Domain, () => lone.probe());
  } catch (error) {
    await gateway.close();
    running.delete(gateway);
    throw error;
  } finally {
    attaching.mock.restore();
  }
  const lone: LoneGateway = Object.assign(made, {
    io: io as GatewayServer,
    port,
    base: `http://127.0.0.1:${port}`,
  });
  return lone;
}

/** Ends those that are left. */
export async function stopGateways(): Promise<void> {
  for (const gateway of running) {
    await gateway.drain();
    await gateway.close();
  }
  running.clear();
}
