import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../domain/platform/project-root.js';
import { freePort, type ManagedProcess, type ProcessGroup } from './process-group.js';

/** Signs the tokens of the installations that a load test starts. */
export const SECRET = 'the secret of the load tests, long enough for HS256';

export const HOST = '127.0.0.1';

export interface Database {
  uri: string;
  pid: number;
}

/** Starts the embedded database in a separate process, as `npm start` does. */
export async function startDatabase(
  group: ProcessGroup,
  folder = join(group.folder, 'database'),
): Promise<Database> {
  const database = group.fork('embedded database', 'embedded-mongo/main.js', {
    args: ['--data-dir', folder],
  });
  const { type, uri, message } = await database.message<{ type: string; uri: string; message?: string }>();
  if (type !== 'ready') throw new Error(`embedded database: ${message}`);
  return { uri, pid: database.pid };
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://${HOST}:${port}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** Settings of every process of the service under load: those of `npm start` without rate limits. */
export function settings(group: ProcessGroup, databaseUri: string): Record<string, string> {
  return {
    DATA_DIR: join(group.folder, 'data'),
    MONGODB_URI: databaseUri,
    JWT_SECRET: SECRET,
    RATE_LIMIT: 'off',
    DEMO: 'off',
    LOG_LEVEL: 'warn',
  };
}

/** Node's flags in `npm start`. */
const START_FLAGS = (() => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
})();

/** Node's flags for a CPU profile, if the group has a folder for them. */
function profileFlags({ profile }: ProcessGroup, name: string): string[] {
  if (!profile) return [];
  const file = `${name}-${process.hrtime.bigint()}.cpuprofile`;
  return ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${file}`];
}

export interface Service {
  process: ManagedProcess;
  httpPort: number;
  gatewayPort: number;
}

/** Starts the whole service in one process, by the program of `npm start`. @param execArgv more flags of Node */
export async function startService(
  group: ProcessGroup,
  databaseUri: string,
  execArgv: string[] = [],
): Promise<Service> {
  const [httpPort, gatewayPort] = [await freePort(), await freePort()];
  const process = group.fork('service', 'start.js', {
    env: {
      ...settings(group, databaseUri),
      HTTP_PORT: String(httpPort),
      GATEWAY_PORT: String(gatewayPort),
    },
    execArgv: [...START_FLAGS, ...profileFlags(group, 'service'), ...execArgv],
  });
  await process.waitUntil(async () => (await isReady(httpPort)) && (await isReady(gatewayPort)));
  return { process, httpPort, gatewayPort };
}

export type RedisAdapter = 'classic' | 'sharded';

/** Starts one of several gateways. */
export async function startGateway(
  group: ProcessGroup,
  name: string,
  databaseUri: string,
  redis: { url: string; adapter: RedisAdapter },
): Promise<{ process: ManagedProcess; port: number }> {
  const port = await freePort();
  const process = group.fork(name, '../gateway/main.js', {
    env: {
      ...settings(group, databaseUri),
      REDIS_URL: redis.url,
      REDIS_ADAPTER: redis.adapter,
      GATEWAY_PORT: String(port),
    },
    execArgv: [...START_FLAGS, ...profileFlags(group, name)],
  });
  await process.waitUntil(() => isReady(port));
  return { process, port };
}

/** Starts a module of servers/ to be measured. */
export function startServer(
  group: ProcessGroup,
  module: string,
  args: string[] = [],
  execArgv: string[] = [],
): Promise<{ process: ManagedProcess; port: number }> {
  return group.start(`servers/${module}`, {
    args,
    execArgv: [...profileFlags(group, module), ...execArgv],
  });
}
