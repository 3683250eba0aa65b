import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { connectRedis } from '../../domain/platform/redis/connection.js';
import { freePort } from '../../scripts/command/ports.js';
import { eventually } from './eventually.js';
import { launchRedis, startRedis, type TestRedis } from './redis.js';

/** Runs a command on one server over a connection of its own. */
async function callServer(
  server: Pick<TestRedis, 'url'>,
  ...command: [string, ...string[]]
): Promise<unknown> {
  const redis = connectRedis(server.url, createLogger('silent', 'test'));
  try {
    return await redis.commands.call(...command);
  } finally {
    await redis.close();
  }
}

/** Several servers behind one URL. */
export interface RedisTopology {
  url: string;
  servers: TestRedis[];
  stop(): Promise<void>;
}

/** Three masters that share the hash slots. */
export async function startCluster(): Promise<RedisTopology> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--cluster-port'];
  // The default, the server's port plus 10,000, may be no valid port.
  const buses = [await freePort(), await freePort(), await freePort()].map(String);
  const servers = await Promise.all(buses.map((bus) => startRedis([...settings, bus])));
  const [first] = servers as [TestRedis, ...TestRedis[]];
  const ranges = ['0 5460', '5461 10922', '10923 16383'];
  for (const [i, server] of servers.entries()) {
    await callServer(server, 'CLUSTER', 'ADDSLOTSRANGE', ...(ranges[i] as string).split(' '));
    if (server !== first)
      await callServer(server, 'CLUSTER', 'MEET', '127.0.0.1', String(first.port), buses[0] as string);
  }
  await eventually(async () => {
    for (const server of servers) {
      const info = String(await callServer(server, 'CLUSTER', 'INFO'));
      if (!info.includes('cluster_state:ok')) throw new Error(info);
      const slots = (await callServer(server, 'CLUSTER', 'SLOTS')) as unknown[];
      if (slots.length !== 3) throw new Error('not all slots are known');
    }
  });
  return {
    url: `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join()}`,
    servers,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A master, its replica, and a sentinel that fails over within seconds; the first server is the master. */
export async function startSentinel(password: string): Promise<RedisTopology> {
  const secured = ['--requirepass', password, '--masterauth', password];
  const master = await startRedis(secured);
  const replica = await startRedis([...secured, '--replicaof', `127.0.0.1 ${master.port}`]);
  const folder = mkdtempSync(join(tmpdir(), 'adoption-sentinel-'));
  const port = await freePort();
  const settings = join(folder, 'sentinel.conf');
  writeFileSync(
    settings,
    [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir ${folder}`,
      `sentinel monitor main 127.0.0.1 ${master.port} 1`,
      `sentinel auth-pass main ${password}`,
      'sentinel down-after-milliseconds main 500',
      'sentinel failover-timeout main 3000',
    ].join('\n'),
  );
  const sentinel = await launchRedis([settings, '--sentinel']);
  const url = `redis://127.0.0.1:${port}`;
  // It discovers replicas by asking the master every few seconds.
  await eventually(async () => {
    const replicas = (await callServer({ url }, 'SENTINEL', 'REPLICAS', 'main')) as unknown[];
    if (replicas.length === 0) throw new Error('no replica known');
  }, 15_000);
  return {
    url: `redis+sentinel://:${password}@127.0.0.1:${port}/main`,
    servers: [master, replica],
    async stop() {
      const ended = once(sentinel, 'exit');
      sentinel.kill('SIGKILL');
      await ended;
      await Promise.all([master, replica].map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
