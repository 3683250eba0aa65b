import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { connectRedis, type RedisConnection } from '../../domain/platform/redis/connection.js';
import type { DropReason } from '../../domain/platform/redis/sealed-messages.js';
import { freePort } from '../../scripts/command/ports.js';
import { endWithTests } from './child-process.js';
import { counted } from './counted.js';

/** A Redis that a test may freeze or kill. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Freezes it (SIGSTOP): connections stay open, and nothing answers. */
  pause(): void;
  resume(): void;
  /** Ends it at once (SIGKILL); its data is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
  /** Ends it for good and removes its folder. */
  stop(): Promise<void>;
}

/** Signs what the processes of a test publish. */
export const SIGNING_KEY = 'a key of the tests, long enough for HMAC';

/** Whether redis-server is installed; without it, tests that need one are pending. */
export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0;

/** Starts redis-server with these arguments. @returns its process, which accepts connections */
export async function launchRedis(settings: string[]): Promise<ChildProcess> {
  const server = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] });
  endWithTests(server);
  for await (const line of createInterface({ input: server.stdout })) {
    // A sentinel accepts connections once it has logged its id.
    if (/ready to accept connections|sentinel id is/i.test(line)) {
      server.stdout.resume();
      return server;
    }
  }
  throw new Error('redis-server did not start');
}

/**
 * Starts redis-server on a free loopback port, without persistence.
 *
 * @param settings as on its command line
 * @param chosenPort the port, where a test must know it in advance
 */
export async function startRedis(settings: string[] = [], chosenPort?: number): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-redis-'));
  const port = chosenPort ?? (await freePort());
  const where = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder];
  const all = [...where, '--save', '', '--appendonly', 'no', ...settings];
  let server = await launchRedis(all);

  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pause: () => server.kill('SIGSTOP'),
    resume: () => server.kill('SIGCONT'),
    kill,
    async restart() {
      await kill();
      server = await launchRedis(all);
    },
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Does something while Redis has reached its limit of memory. @param policy `noeviction`, or what is evicted */
export async function keepsToMemory<T>(
  commands: RedisConnection['commands'],
  policy: string,
  work: () => Promise<T>,
): Promise<T> {
  await commands.config('SET', 'maxmemory-policy', policy);
  await commands.config('SET', 'maxmemory', '1');
  try {
    return await work();
  } finally {
    await commands.config('SET', 'maxmemory', '0');
  }
}

/** Whether there is a Redis for the contract suites: redis-server, else that of REDIS_URL. */
const hasAnyRedis = hasRedisServer || Boolean(process.env.REDIS_URL);

async function openAnyRedis(): Promise<Pick<TestRedis, 'url' | 'stop'>> {
  if (hasRedisServer) return startRedis();
  return { url: process.env.REDIS_URL as string, stop: async () => {} };
}

/** Redis connections that are closed together. */
export function openConnections() {
  const open: RedisConnection[] = [];
  return {
    /** An established connection. @param key signs what it publishes; '' for none */
    async connect(url: string, key = SIGNING_KEY): Promise<RedisConnection> {
      const redis = connectRedis(url, createLogger('silent', 'test'), key || undefined);
      open.push(redis);
      if (!(await redis.connected(5_000))) throw new Error('no connection to Redis');
      return redis;
    },
    async close(): Promise<void> {
      await Promise.all(open.splice(0).map((redis) => redis.close()));
    },
  };
}

/** Messages that this process has dropped for one of these reasons so far. */
export async function droppedMessages(...reasons: DropReason[]): Promise<number> {
  const counts = await Promise.all(
    reasons.map((reason) => counted(metrics.redisMessagesDropped, { reason })),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Resolves at the next such event of a connection. */
export function reaches(redis: RedisConnection, event: 'down' | 'up'): Promise<void> {
  return new Promise((resolve) => {
    const off = redis.on(event, () => {
      off();
      resolve();
    });
  });
}

/**
 * A suite with a connection to Redis; pending where there is none.
 * @param suite gets a function that returns the connection once the tests run
 */
export function describeOnRedis(title: string, suite: (connection: () => RedisConnection) => void): void {
  describe(title, () => {
    const connections = openConnections();
    let redis: Awaited<ReturnType<typeof openAnyRedis>> | undefined;
    let connection: RedisConnection;

    before(async function () {
      if (!hasAnyRedis) this.skip();
      redis = await openAnyRedis();
      connection = await connections.connect(redis.url);
    });
    after(async () => {
      await connections.close();
      await redis?.stop();
    });

    suite(() => connection);
  });
}
