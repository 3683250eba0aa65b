import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiled, createTestProcess, type TestProcess } from './child-process.js';
import { type ClusterMembers, createClusterMembers } from './cluster-members.js';
import { eventually } from './eventually.js';
import { freePort, startRedis, type TestRedis } from './redis.js';

/** What signs the tokens of a cluster's members. */
const SECRET = 'a secret of the clusters, long enough for HS256';

/** Members that are imported at the start, and adoption posts by each of them. */
const MEMBERS = 200;
const POSTS_EACH = 2;

export interface ClusterOptions {
  http: number;
  gateways: number;
  adapter?: 'classic' | 'sharded';
  /** All gateways on one port, as in production; else each on its own, so that a test can choose. */
  sharedPort?: boolean;
  /** Settings of all processes, beside those a cluster needs. */
  env?: Record<string, string>;
  /** Settings of one process: told its name (`gateway-0`), and what it would use. */
  envOf?: (name: string, env: Record<string, string>) => Promise<Record<string, string>>;
  /** Where the processes look for Redis; its own port unless a test puts something in between. */
  redisPort?: (own: number) => Promise<number> | number;
}

/** http and gateway processes over a Redis and an embedded database of their own, on loopback. */
export interface Cluster extends ClusterMembers {
  /** Base addresses, one per http process. */
  http: string[];
  /** Base addresses, one per gateway; all the same with `sharedPort`. */
  gateways: string[];
  redis: TestRedis;
  mongo: TestProcess;
  mongoPort: number;
  /** By name: `http-0`, `gateway-0` … */
  process(name: string): TestProcess;
  processes: TestProcess[];
  /** Ends a process by a signal; resolves to its exit status. */
  kill(name: string, signal?: NodeJS.Signals): Promise<number | null>;
  /** Starts a process that has ended; resolves when it is ready. */
  restart(name: string, env?: Record<string, string>): Promise<void>;
  /** Resolves when all running processes answer /readyz with 200. */
  ready(): Promise<void>;
  /** Log lines of level error and above, of all processes. */
  errors(): string[];
  /** Those that are faults of the program, whatever is done to its surroundings. */
  faults(): string[];
  /** Ends everything and removes its folder. */
  stop(): Promise<void>;
}

/** @returns whether a process serves: its /readyz is 200 */
export async function isReady(base: string): Promise<boolean> {
  try {
    return (await fetch(`${base}/readyz`)).status === 200;
  } catch {
    return false;
  }
}

/** Imports the members and their posts as an operator would: by the command. */
async function importMembers(folder: string, env: Record<string, string>): Promise<void> {
  const rows: object[] = [];
  for (let i = 1; i <= MEMBERS; i += 1) {
    const email = `member-${i}@example.org`;
    rows.push({ record: 'member', email, nickname: `member ${i}` });
    for (let k = 1; k <= POSTS_EACH; k += 1) {
      const post = {
        title: `Post ${k} of member ${i}`,
        name: 'Bori',
        age: '2',
        kind: 'dog',
        thumbnail: '/bori.jpg',
      };
      const id = (i - 1) * POSTS_EACH + k;
      rows.push({ record: 'adoption', id, author: email, ...post, latitude: 37.5, longitude: 127 });
    }
  }
  const file = join(folder, 'members.json');
  writeFileSync(file, JSON.stringify(rows));
  const child = spawn(process.execPath, [fileURLToPath(compiled('scripts/import.js')), file], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`the import ended with status ${status}:\n${output}`);
}

/** Starts a cluster and resolves when every process of it answers /readyz. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-cluster-'));
  const redis = await startRedis();
  const mongoPort = await freePort();
  const mongo = createTestProcess(
    'database',
    'scripts/embedded-mongo/main.js',
    ['--data-dir', join(folder, 'database'), '--port', String(mongoPort)],
    folder,
    {},
    (message) => (message as { type?: string }).type === 'ready',
  );
  const processes: TestProcess[] = [];
  const bases = new Map<string, string>();

  async function stop(): Promise<void> {
    await Promise.all(processes.map((one) => one.kill('SIGKILL')));
    await mongo.kill('SIGKILL');
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  async function ready(): Promise<void> {
    await eventually(async () => {
      const late = [];
      for (const { name, running } of processes) {
        if (running && !(await isReady(bases.get(name) as string))) late.push(name);
      }
      if (late.length > 0) throw new Error(`not ready: ${late.join(', ')}`);
    });
  }

  try {
    const { uri } = (await mongo.start()) as { uri: string };
    const env: Record<string, string> = {
      NODE_ENV: 'test',
      DATA_DIR: folder,
      MONGODB_URI: uri,
      REDIS_URL: `redis://127.0.0.1:${(await options.redisPort?.(redis.port)) ?? redis.port}`,
      REDIS_ADAPTER: options.adapter ?? 'classic',
      JWT_SECRET: SECRET,
      RATE_LIMIT: 'off',
      DEMO: 'off',
      LOG_LEVEL: 'info',
      DRAIN_WINDOW_MS: '500',
      ...options.env,
    };
    const shared = options.sharedPort ? await freePort() : undefined;
    for (const kind of ['http', 'gateway'] as const) {
      const count = kind === 'http' ? options.http : options.gateways;
      for (let i = 0; i < count; i += 1) {
        const name = `${kind}-${i}`;
        const port = kind === 'gateway' && shared ? shared : await freePort();
        const own = { ...env, [kind === 'http' ? 'HTTP_PORT' : 'GATEWAY_PORT']: String(port) };
        const settings = (await options.envOf?.(name, own)) ?? own;
        processes.push(
          createTestProcess(name, `${kind}/main.js`, [], folder, settings, (m) => m === 'ready'),
        );
        bases.set(name, `http://127.0.0.1:${port}`);
      }
    }
    await Promise.all([importMembers(folder, env), ...processes.map((one) => one.start())]);
    await ready();
  } catch (error) {
    await stop();
    throw error;
  }

  const basesOf = (kind: string) =>
    processes.filter(({ name }) => name.startsWith(kind)).map(({ name }) => bases.get(name) as string);

  function find(name: string): TestProcess {
    const found = processes.find((one) => one.name === name);
    if (!found) throw new Error(`no process ${name}`);
    return found;
  }

  const http = basesOf('http');
  return {
    ...createClusterMembers(http, SECRET, MEMBERS, POSTS_EACH),
    http,
    gateways: basesOf('gateway'),
    redis,
    mongo,
    mongoPort,
    process: find,
    processes,
    kill: (name, signal) => find(name).kill(signal),
    async restart(name, env) {
      await find(name).start(env);
      await eventually(async () => {
        if (!(await isReady(bases.get(name) as string))) throw new Error(`${name} is not ready`);
      });
    },
    ready,
    errors: () => processes.flatMap((one) => one.errors()),
    faults: () =>
      processes
        .flatMap((one) => one.errors())
        .filter((line) => /unhandled rejection|uncaught exception|INTERNAL|without a record/.test(line)),
    stop,
  };
}
