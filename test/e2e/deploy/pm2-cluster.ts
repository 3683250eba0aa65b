import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiled } from '../../support/child-process.js';
import { type ClusterMembers, createClusterMembers } from '../../support/cluster-members.js';
import { freePort, startRedis } from '../../support/redis.js';

/** What signs the tokens of the cluster's members. */
const SECRET = 'a secret of the pm2 cluster, long enough for HS256';

/** Members that are imported, and adoption posts by each of them. */
const MEMBERS = 80;
const POSTS_EACH = 1;

/** How long, in ms, a command may take before it is killed and its test fails. */
const COMMAND_MS = 180_000;

export interface CommandRun {
  status: number | null;
  output: string;
}

/** What `npm run cluster` starts, with a Redis, a folder and ports of its own. */
export interface Pm2Cluster extends ClusterMembers {
  http: string;
  gateway: string;
  folder: string;
  /** `npm run cluster`, or with an action `npm run cluster -- ACTION`. */
  run(action?: string, env?: Record<string, string>): Promise<CommandRun>;
  /** `npm start` on the cluster's data, with ports of its own. */
  start(): Promise<CommandRun>;
  /** `npm run import` of members with a post each. */
  importMembers(): Promise<void>;
  /** Pids of the processes that work in this cluster's folder, pm2's daemon among them. */
  pids(): Promise<number[]>;
  /** Ends everything, however it stands, and removes the folder. */
  destroy(): Promise<void>;
}

async function runScript(
  script: string,
  args: string[],
  folder: string,
  env: Record<string, string>,
): Promise<CommandRun> {
  const child = spawn(process.execPath, [fileURLToPath(compiled(`scripts/${script}.js`)), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  // Not `close`: a daemon it has left behind may hold its output.
  const [status] = await once(child, 'exit');
  return { status, output };
}

/** Processes whose environment names this folder's pm2. Its daemon is one of them. */
async function pidsOf(folder: string): Promise<number[]> {
  const { readdir } = await import('node:fs/promises');
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return all.filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const isZombie = stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
      return !isZombie && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder);
    } catch {
      // Gone meanwhile, or not ours to read.
      return false;
    }
  });
}

/** Prepares one; nothing of it but Redis runs yet. */
export async function preparePm2Cluster(settings: Record<string, string> = {}): Promise<Pm2Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-pm2-'));
  const redis = await startRedis();
  const env: Record<string, string> = {
    REDIS_URL: redis.url,
    DATA_DIR: folder,
    HTTP_PORT: String(await freePort()),
    GATEWAY_PORT: String(await freePort()),
    JWT_SECRET: SECRET,
    RATE_LIMIT: 'off',
    DRAIN_WINDOW_MS: '500',
    ...settings,
  };
  const http = `http://127.0.0.1:${env.HTTP_PORT}`;

  return {
    ...createClusterMembers([http], SECRET, MEMBERS, POSTS_EACH),
    http,
    gateway: `http://127.0.0.1:${env.GATEWAY_PORT}`,
    folder,
    run: (action, more = {}) => runScript('cluster', action ? [action] : [], folder, { ...env, ...more }),

    start: () => runScript('start', [], folder, { ...env, REDIS_URL: '', HTTP_PORT: '0', GATEWAY_PORT: '0' }),

    async importMembers() {
      const place = { latitude: 37.5, longitude: 127, thumbnail: '/bori.jpg' };
      const rows = Array.from({ length: MEMBERS }, (_, i) => {
        const email = `member-${i + 1}@example.org`;
        const post = { title: `Post ${i + 1}`, name: 'Bori', age: '2', kind: 'dog', ...place };
        return [
          { record: 'member', email, nickname: `member ${i + 1}` },
          { record: 'adoption', id: i + 1, author: email, ...post },
        ];
      }).flat();
      const file = join(folder, 'members.json');
      writeFileSync(file, JSON.stringify(rows));
      const { status, output } = await runScript('import', [file], folder, env);
      if (status !== 0) throw new Error(`the import failed: ${output}`);
    },

    pids: () => pidsOf(folder),

    async destroy() {
      for (const pid of await pidsOf(folder)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
        }
      }
      await redis.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
