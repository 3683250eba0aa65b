import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProgramRun, runProgram } from '../../support/child-process.js';
import { type ClusterMembers, createClusterMembers, importMembers } from '../../support/cluster-members.js';
import { freePort } from '../../support/free-port.js';
import { startRedis } from '../../support/redis.js';

/** What signs the tokens of the cluster's members. */
const SECRET = 'a secret of the pm2 cluster, long enough for HS256';

const POPULATION = { members: 80, postsEach: 1 };

/** What `npm run cluster` starts, with a Redis, a folder and ports of its own. */
export interface Pm2Cluster extends ClusterMembers {
  http: string;
  gateway: string;
  folder: string;
  /** `npm run cluster`, or with an action `npm run cluster -- ACTION`. */
  run(action?: string, env?: Record<string, string>): Promise<ProgramRun>;
  /** `npm start` on the cluster's data, with ports of its own. */
  start(): Promise<ProgramRun>;
  /** `npm run import` of members with a post each. */
  importMembers(): Promise<void>;
  /** Pids of the processes that work in this cluster's folder, pm2's daemon among them. */
  pids(): number[];
  /** Ends everything, however it stands, and removes the folder. */
  destroy(): Promise<void>;
}

/** Processes whose environment names this folder's pm2. Its daemon is one of them. */
function pidsOf(folder: string): number[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
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
  const run = (script: string, args: string[], more: Record<string, string>) =>
    runProgram({ path: `scripts/${script}.js`, args, folder, env: { HOME: folder, ...env, ...more } });

  return {
    ...createClusterMembers([http], SECRET, POPULATION),
    http,
    gateway: `http://127.0.0.1:${env.GATEWAY_PORT}`,
    folder,
    run: (action, more = {}) => run('cluster', action ? [action] : [], more),
    start: () => run('start', [], { REDIS_URL: '', HTTP_PORT: '0', GATEWAY_PORT: '0' }),

    importMembers: () => importMembers(folder, env, POPULATION),

    pids: () => pidsOf(folder),

    async destroy() {
      for (const pid of pidsOf(folder)) {
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
