import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../domain/platform/project-root.js';
import { type Actor, freePort, messageOf, type ProcessGroup, until } from './process-group.js';

/** What signs the tokens of installations that a load test starts. */
export const SECRET = 'the secret of the load tests, long enough for HS256';

export const HOST = '127.0.0.1';

export interface Database {
  uri: string;
  pid: number;
}

/** The embedded database as a process of its own, as `npm start` has it. */
export async function startDatabase(
  stage: ProcessGroup,
  folder = join(stage.folder, 'database'),
): Promise<Database> {
  const actor = stage.fork('the embedded database', 'embedded-mongo/main.js', {
    args: ['--data-dir', folder],
  });
  const message = await messageOf<{ type: string; uri: string; message?: string }>(
    actor,
    (m) => typeof (m as { type?: unknown }).type === 'string',
  );
  if (message.type !== 'ready') throw new Error(`the embedded database: ${message.message}`);
  return { uri: message.uri, pid: actor.pid };
}

export interface Service {
  actor: Actor;
  httpPort: number;
  gatewayPort: number;
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://${HOST}:${port}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** Settings of every process of ours under load: as `npm start`, without the limits on requests. */
export function settings(stage: ProcessGroup, databaseUri: string): Record<string, string> {
  return {
    DATA_DIR: join(stage.folder, 'data'),
    MONGODB_URI: databaseUri,
    JWT_SECRET: SECRET,
    RATE_LIMIT: 'off',
    DEMO: 'off',
    LOG_LEVEL: 'warn',
  };
}

/** What `npm start` gives node before the name of its program. */
const START_FLAGS = (() => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  return scripts.start.split(' ').filter((part) => part.startsWith('--'));
})();

/** What node is started with where a CPU profile is wanted. */
export function profiling({ profile }: ProcessGroup, name: string): string[] {
  return profile
    ? [
        '--cpu-prof',
        `--cpu-prof-dir=${profile}`,
        `--cpu-prof-name=${name}-${process.hrtime.bigint()}.cpuprofile`,
      ]
    : [];
}

/**
 * The whole service in a process of its own, by the program that `npm start` runs.
 * @param execArgv further arguments of node
 */
export async function startService(
  stage: ProcessGroup,
  databaseUri: string,
  execArgv: string[] = [],
): Promise<Service> {
  const [httpPort, gatewayPort] = [await freePort(), await freePort()];
  const actor = stage.fork('the service', 'start.js', {
    env: { ...settings(stage, databaseUri), HTTP_PORT: String(httpPort), GATEWAY_PORT: String(gatewayPort) },
    execArgv: [...START_FLAGS, ...profiling(stage, 'service'), ...execArgv],
  });
  await until('the service', async () => (await answers(httpPort)) && (await answers(gatewayPort)), actor);
  return { actor, httpPort, gatewayPort };
}

/** One gateway of several, on a port of its own. */
export async function startGateway(
  stage: ProcessGroup,
  name: string,
  databaseUri: string,
  redisUrl: string,
  adapter: 'classic' | 'sharded',
): Promise<{ actor: Actor; port: number }> {
  const port = await freePort();
  const actor = stage.fork(name, '../gateway/main.js', {
    env: {
      ...settings(stage, databaseUri),
      REDIS_URL: redisUrl,
      REDIS_ADAPTER: adapter,
      GATEWAY_PORT: String(port),
    },
    execArgv: [...START_FLAGS, ...profiling(stage, name)],
  });
  await until(name, () => answers(port), actor);
  return { actor, port };
}
