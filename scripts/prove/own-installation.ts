import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../command/ports.js';
import {
  DATABASE_PROGRAM,
  HOST,
  isReady,
  type RedisAdapter,
  START_FLAGS,
  settings,
} from '../load/installation.js';
import type { ManagedProcess, ProcessGroup } from '../load/process-group.js';
import { startRedisAt } from '../load/programs.js';
import { type FaultyProxy, Proxies } from './proxies.js';
import { Restartable } from './restartable.js';
import type { Door, Served } from './served.js';

export interface OwnOptions {
  http: number;
  gateways: number;
  engine: 'uws' | 'ws' | undefined;
  adapter: RedisAdapter;
  /** Folder of the compiled http and gateway programs; stores are those of the command's own build. */
  build: string | undefined;
}

/** Signs what the processes publish to each other. */
const SIGNING_KEY = 'a key of the proof, long enough for HMAC';

const PRELOAD = new URL('../command/child-preload.js', import.meta.url).href;

/** Nothing of it is kept, so it ends at once; where V8's coverage is measured, processes write it as they end. */
export const END = process.env.NODE_V8_COVERAGE ? 'SIGTERM' : 'SIGKILL';

const OWN_BUILD = fileURLToPath(new URL('../..', import.meta.url));
/** The service's, and what it adds to UTC, ms: it has no summer time. */
const TIME_ZONE = 'Asia/Seoul';
export const LOCAL_OFFSET_MS = 9 * 3_600_000;

/** Time over which a stopping process closes its connections, ms: a short one, for many stops in a run. */
const DRAIN_WINDOW_MS = '500';

/** A process of the service, and the ways to it. */
export interface ServiceProcess extends Served {
  process: Restartable;
  /** Between the process and Redis. */
  redis: FaultyProxy;
  /** Between some of its clients and the process. */
  clients: FaultyProxy;
}

/** What a run starts and strikes: Redis, the embedded database, http processes and gateways. */
export interface OwnInstallation {
  /** `file` is where it stores everything. */
  database: Restartable & { readonly uri: string; readonly file: string };
  /** `uri` reaches it past the proxies. */
  redis: Restartable & { readonly uri: string };
  services: ServiceProcess[];
  /** Rejects when the run means nothing any more. */
  failure: Promise<never>;
  close(): Promise<void>;
}

/** Starts a program of the project with the preload of the tests. Resolves with its first message of this kind. */
async function launch(
  group: ProcessGroup,
  name: string,
  module: string,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> },
  isStarted: (message: unknown) => boolean,
): Promise<ManagedProcess> {
  const execArgv = [...START_FLAGS, '--import', PRELOAD];
  const process = group.fork(name, module, { args, env, execArgv });
  try {
    await process.message(isStarted);
  } catch (error) {
    // It may hold its port: the next attempt would find it taken.
    await process.kill('SIGKILL');
    throw error;
  }
  return process;
}

async function startService(
  group: ProcessGroup,
  door: Door,
  number: number,
  build: string,
  env: Record<string, string>,
  redisPort: number,
  proxies: Proxies,
): Promise<ServiceProcess> {
  const name = `${door}-${number}`;
  const port = await freePort();
  const [redis, clients] = [await proxies.start(redisPort), await proxies.start(port)];
  const own = {
    ...env,
    REDIS_URL: `redis://${HOST}:${redis.port}`,
    [door === 'http' ? 'HTTP_PORT' : 'GATEWAY_PORT']: String(port),
  };
  const start = (more: Record<string, string>) =>
    launch(
      group,
      name,
      join(build, door, 'main.js'),
      { env: { ...own, ...more } },
      (message) => message === 'ready',
    );
  return {
    name,
    door,
    process: new Restartable(name, start, () => isReady(port)),
    redis,
    clients,
    base: `http://${HOST}:${port}`,
    detour: `http://${HOST}:${clients.port}`,
  };
}

/** Starts Redis and the embedded database, both empty. */
async function startStores(group: ProcessGroup) {
  const redisPort = await freePort();
  const redis = Object.assign(new Restartable('redis', () => startRedisAt(group, redisPort)), {
    uri: `redis://${HOST}:${redisPort}`,
  });
  const port = await freePort();
  const folder = join(group.folder, 'database');
  const args = ['--data-dir', folder, '--port', String(port)];
  const start = () =>
    launch(
      group,
      'database',
      DATABASE_PROGRAM,
      { args },
      (message) => (message as { type?: string }).type === 'ready',
    );
  const database = Object.assign(new Restartable('database', start), {
    uri: `mongodb://${HOST}:${port}/adoption`,
    file: join(folder, 'mongo', 'data.mdb'),
  });
  await Promise.all([redis.start(), database.start()]);
  return { redis, redisPort, database };
}

/**
 * Starts an installation on loopback, in the group's folder.
 * @param prepare fills the database before the service starts
 * @throws Error if a program does not start: what was started is ended; GroupEnded
 */
export async function startOwnInstallation(
  group: ProcessGroup,
  { http, gateways, engine, adapter, build = OWN_BUILD }: OwnOptions,
  prepare: (databaseUri: string) => Promise<void>,
): Promise<OwnInstallation> {
  const close = () => group.end(END);
  try {
    const { redis, redisPort, database } = await startStores(group);
    await prepare(database.uri);
    const proxies = await Proxies.open(group);
    const env = {
      ...settings(group, database.uri),
      NODE_ENV: 'test',
      TIME_ZONE,
      REDIS_ADAPTER: adapter,
      REDIS_SIGNING_KEY: SIGNING_KEY,
      DRAIN_WINDOW_MS,
      // Each gateway has an address of its own: clients by long-polling stay with it.
      GATEWAY_STICKY: 'on',
      ...(engine ? { GATEWAY_ENGINE: engine } : {}),
    };
    const doors: Door[] = [...Array<Door>(http).fill('http'), ...Array<Door>(gateways).fill('gateway')];
    const services = await Promise.all(
      doors.map((door, i) =>
        startService(group, door, door === 'http' ? i : i - http, resolve(build), env, redisPort, proxies),
      ),
    );
    await Promise.all(services.map(({ process }) => process.start()));
    const failure = proxies.failure();
    // Whoever waits for it handles it.
    failure.catch(() => {});
    return { database, redis, services, failure, close };
  } catch (error) {
    await close();
    throw error;
  }
}
