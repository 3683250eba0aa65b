import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/command/ports.js';
import { createTestProcess, type TestProcess } from './child-process.js';
import { createClusterMembers, importMembers } from './cluster-members.js';
import { eventually } from './eventually.js';
import { SIGNING_KEY, startRedis } from './redis.js';
import { isReady } from './rest.js';

/** Signs the tokens of a cluster's members. */
const SECRET = 'a secret of the clusters, long enough for HS256';

const POPULATION = { members: 200, postsEach: 2 };

export interface ClusterOptions {
  http: number;
  gateways: number;
  adapter?: 'classic' | 'sharded';
  /** Further settings of all processes. */
  env?: Record<string, string>;
  /** Settings of one process. @param name for example `gateway-0` @param env what it would use */
  envOf?: (name: string, env: Record<string, string>) => Promise<Record<string, string>>;
  /** Port at which the processes reach Redis, where a test puts a proxy in between. */
  redisPort?: (own: number) => Promise<number> | number;
}

/** http and gateway processes over a Redis and an embedded database of their own, on loopback. */
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** A process of the cluster, and its base address. */
interface Served {
  process: TestProcess;
  base: string;
}

/** The http processes and gateways, not started yet. */
async function prepareProcesses(
  options: ClusterOptions,
  folder: string,
  env: Record<string, string>,
): Promise<Served[]> {
  const served: Served[] = [];
  for (const kind of ['http', 'gateway'] as const) {
    const count = kind === 'http' ? options.http : options.gateways;
    for (let i = 0; i < count; i += 1) {
      const name = `${kind}-${i}`;
      const port = await freePort();
      const own = { ...env, [`${kind.toUpperCase()}_PORT`]: String(port) };
      const settings = (await options.envOf?.(name, own)) ?? own;
      const program = { name, path: `${kind}/main.js`, folder, env: settings };
      const process = createTestProcess({ ...program, isReady: (message) => message === 'ready' });
      served.push({ process, base: `http://127.0.0.1:${port}` });
    }
  }
  return served;
}

/** Starts a cluster and resolves when all of its processes are ready. */
export async function startCluster(options: ClusterOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-cluster-'));
  const redis = await startRedis();
  const mongoPort = await freePort();
  const mongo = createTestProcess({
    name: 'database',
    path: import.meta.resolve('embedded-mongo/main'),
    args: ['--data-dir', join(folder, 'database'), '--port', String(mongoPort), '--database', 'adoption'],
    folder,
    env: {},
    isReady: (message) => (message as { type?: string }).type === 'ready',
  });
  let served: Served[] = [];
  let mongoUri = '';

  /** Ends everything and removes its folder. */
  async function stop(): Promise<void> {
    await Promise.all(served.map(({ process }) => process.kill('SIGKILL')));
    await mongo.kill('SIGKILL');
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  async function ready(some = served): Promise<void> {
    await eventually(async () => {
      const running = some.filter(({ process }) => process.running);
      const answers = await Promise.all(running.map(({ base }) => isReady(base)));
      const late = running.filter((_, i) => !answers[i]).map(({ process }) => process.name);
      if (late.length > 0) throw new Error(`not ready: ${late.join(', ')}`);
    });
  }

  try {
    ({ uri: mongoUri } = (await mongo.start()) as { uri: string });
    const env: Record<string, string> = {
      NODE_ENV: 'test',
      DATA_DIR: folder,
      MONGODB_URI: mongoUri,
      REDIS_URL: `redis://127.0.0.1:${(await options.redisPort?.(redis.port)) ?? redis.port}`,
      REDIS_ADAPTER: options.adapter ?? 'classic',
      REDIS_SIGNING_KEY: SIGNING_KEY,
      JWT_SECRET: SECRET,
      RATE_LIMIT: 'off',
      DEMO: 'off',
      LOG_LEVEL: 'info',
      DRAIN_WINDOW_MS: '500',
      ...options.env,
    };
    served = await prepareProcesses(options, folder, env);
    await Promise.all([
      importMembers(folder, env, POPULATION),
      ...served.map(({ process }) => process.start()),
    ]);
    await ready();
  } catch (error) {
    await stop();
    throw error;
  }

  function find(name: string): Served {
    const found = served.find(({ process }) => process.name === name);
    if (!found) throw new Error(`no process ${name}`);
    return found;
  }

  const basesOf = (kind: string) =>
    served.filter(({ process }) => process.name.startsWith(kind)).map(({ base }) => base);
  /** Log lines of level error and above, of all processes. */
  const errors = () => served.flatMap(({ process }) => process.errors());
  const http = basesOf('http');
  return {
    ...createClusterMembers(http, SECRET, POPULATION),
    /** Base addresses, one per http process. */
    http,
    /** Base addresses, one per gateway. */
    gateways: basesOf('gateway'),
    redis,
    mongoPort,
    /** Of a command beside it. */
    settings: { DATA_DIR: folder, MONGODB_URI: mongoUri, JWT_SECRET: SECRET },
    /** By name: `http-0`, `gateway-0` … */
    process: (name: string) => find(name).process,
    processes: served.map(({ process }) => process),
    /** Ends a process by a signal; resolves to its exit status. */
    kill: (name: string, signal?: NodeJS.Signals) => find(name).process.kill(signal),
    /** Starts a process that has ended; resolves when it is ready. */
    async restart(name: string, env?: Record<string, string>): Promise<void> {
      await find(name).process.start(env);
      await ready([find(name)]);
    },
    /** Resolves when all running processes answer /readyz with 200. */
    ready: () => ready(),
    errors,
    /** Errors that no fault of Redis, the database or the network explains. */
    faults: () =>
      errors().filter((line) =>
        /unhandled rejection|uncaught exception|INTERNAL|without a record/.test(line),
      ),
    stop,
  };
}
