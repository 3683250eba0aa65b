import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { DATABASE } from '../command/open-database.js';
import { freePort } from '../command/ports.js';
import type { ManagedProcess, ProcessGroup } from './process-group.js';

/** Signs the tokens of the installations that a load test starts. */
export const SECRET = 'the secret of the load tests, long enough for HS256';

export const HOST = '127.0.0.1';

export interface Database {
  uri: string;
  pid: number;
}

/** The program of the embedded database. */
export const DATABASE_PROGRAM = fileURLToPath(import.meta.resolve('embedded-mongo/main'));

/** Starts the embedded database in a separate process, as `npm start` does. */
export async function startDatabase(
  group: ProcessGroup,
  folder = join(group.folder, 'database'),
): Promise<Database> {
  const database = group.fork('embedded database', DATABASE_PROGRAM, {
    args: ['--data-dir', folder, '--database', DATABASE],
  });
  const { type, uri, message } = await database.message<{ type: string; uri: string; message?: string }>();
  if (type !== 'ready') throw new Error(`embedded database: ${message}`);
  return { uri, pid: database.pid };
}

/** Longest wait for an answer, ms: one that is frozen accepts connections, and never answers. */
const ANSWER_MS = 5_000;

/** Whether a process of the service on this machine can serve. */
export async function isReady(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    return (await fetch(`http://${HOST}:${port}/readyz`, { signal })).ok;
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
export const START_FLAGS = (() => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const [, nodeCall = ''] = scripts.start.split('exec node ');
  return nodeCall.split(' ').filter((word) => word.startsWith('--'));
})();

/** Starts a process of the service. Resolves when all its ports answer. @param execArgv more flags of Node */
async function startServing(
  group: ProcessGroup,
  name: string,
  module: string,
  env: Record<string, string>,
  ports: number[],
  execArgv: string[] = [],
): Promise<ManagedProcess> {
  const flags = [...START_FLAGS, ...execArgv];
  const process = group.fork(name, module, { env, execArgv: flags, measured: true });
  await process.waitUntil(async () => (await Promise.all(ports.map(isReady))).every(Boolean));
  return process;
}

/** How a service differs from that of `npm start`: more flags of Node, other settings. */
export interface ServiceOptions {
  execArgv?: string[];
  env?: Record<string, string>;
}

/** Starts the whole service in one process, by the program of `npm start`. */
export async function startService(
  group: ProcessGroup,
  databaseUri: string,
  { execArgv, env: others }: ServiceOptions = {},
) {
  const [httpPort, gatewayPort] = [await freePort(), await freePort()];
  const env = {
    ...{ ...settings(group, databaseUri), ...others },
    HTTP_PORT: String(httpPort),
    GATEWAY_PORT: String(gatewayPort),
  };
  const process = await startServing(group, 'service', 'start.js', env, [httpPort, gatewayPort], execArgv);
  return { process, httpPort, gatewayPort };
}

export type RedisAdapter = 'classic' | 'sharded';

/** Of all processes of a run. */
const SIGNING_KEY = randomBytes(32).toString('base64url');

/** How the processes of a cluster reach each other. @param isSigned whether they sign what they publish */
export interface SharedRedis {
  url: string;
  adapter: RedisAdapter;
  isSigned?: boolean;
}

/** Starts one of several processes. */
async function startShared(
  kind: 'gateway' | 'http',
  group: ProcessGroup,
  name: string,
  databaseUri: string,
  { url, adapter, isSigned = true }: SharedRedis,
) {
  const port = await freePort();
  const env = {
    ...settings(group, databaseUri),
    REDIS_URL: url,
    REDIS_ADAPTER: adapter,
    ...(isSigned ? { REDIS_SIGNING_KEY: SIGNING_KEY } : {}),
    [kind === 'gateway' ? 'GATEWAY_PORT' : 'HTTP_PORT']: String(port),
  };
  return { process: await startServing(group, name, `../${kind}/main.js`, env, [port]), port };
}

/** Starts one of several gateways. */
export const startGateway = startShared.bind(null, 'gateway');

/** Starts one of several http processes. */
export const startHttp = startShared.bind(null, 'http');
