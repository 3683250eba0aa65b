import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLogger } from '../../domain/platform/logger.js';
import { connectRedis, type RedisConnection } from '../../domain/platform/redis/connection.js';
import { endWithTests } from './child-process.js';

/** A Redis of the test's own, which a test may treat badly. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Freezes it (SIGSTOP): connections stand and nothing answers. */
  pause(): void;
  resume(): void;
  /** Ends it at once (SIGKILL); what it knew is lost. */
  kill(): Promise<void>;
  /** Starts it again at the same address, empty. */
  restart(): Promise<void>;
  /** Ends it for good and removes its folder. */
  stop(): Promise<void>;
}

/** Whether tests that need a Redis of their own can run here. Where not, they are pending. */
export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0;

/** A loopback port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}

/** Starts redis-server with these arguments. @returns its process, which accepts connections */
export async function launchRedis(settings: string[]): Promise<ChildProcess> {
  const server = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] });
  endWithTests(server);
  for await (const line of createInterface({ input: server.stdout })) {
    // A sentinel accepts connections when it has named itself.
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
 * @param chosenPort the port, where a test has to know it before
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

/** The Redis on which the contracts of the ports are tested: one of our own, else that of REDIS_URL. */
const hasAnyRedis = hasRedisServer || Boolean(process.env.REDIS_URL);

async function openAnyRedis(): Promise<Pick<TestRedis, 'url' | 'stop'>> {
  if (hasRedisServer) return startRedis();
  return { url: process.env.REDIS_URL as string, stop: async () => {} };
}

/** Connections as of processes of a service; all are closed together. */
export function openConnections() {
  const open: RedisConnection[] = [];
  return {
    /** A connection that is through. */
    async connect(url: string): Promise<RedisConnection> {
      const redis = connectRedis(url, createLogger('silent', 'test'));
      open.push(redis);
      if (!(await redis.connected(5_000))) throw new Error('no connection to Redis');
      return redis;
    },
    async close(): Promise<void> {
      await Promise.all(open.splice(0).map((redis) => redis.close()));
    },
  };
}

/** Resolves when the connection becomes as wanted; never, where it is so already and stays so. */
export function reaches(redis: RedisConnection, event: 'away' | 'back'): Promise<void> {
  return new Promise((resolve) => {
    const off = redis.on(event, () => {
      off();
      resolve();
    });
  });
}

/**
 * A suite with one connection to whatever Redis there is; pending where there is none.
 * @param suite gets a function that gives the connection once the tests run
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
