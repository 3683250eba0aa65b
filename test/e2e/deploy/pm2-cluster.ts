import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../scripts/command/ports.js';
import { runProgram } from '../../support/child-process.js';
import { createClusterMembers, importMembers } from '../../support/cluster-members.js';
import { startRedis } from '../../support/redis.js';

/** Signs the tokens of the cluster's members. */
const SECRET = 'a secret of the pm2 cluster, long enough for HS256';

const POPULATION = { members: 80, postsEach: 1 };

/** A cluster of `npm run cluster`, with its own Redis, folder and ports. */
export type Pm2Cluster = Awaited<ReturnType<typeof preparePm2Cluster>>;

/** Processes whose environment names this folder. */
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
      // It has ended, or is another user's.
      return false;
    }
  });
}

/** Prepares a cluster; only Redis is started. */
export async function preparePm2Cluster() {
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
  };
  const http = `http://127.0.0.1:${env.HTTP_PORT}`;
  const run = (script: string, args: string[], more: Record<string, string>) =>
    runProgram({ path: `scripts/${script}.js`, args, folder, env: { HOME: folder, ...env, ...more } });

  return {
    ...createClusterMembers([http], SECRET, POPULATION),
    http,
    gateway: `http://127.0.0.1:${env.GATEWAY_PORT}`,
    folder,
    /** `npm run cluster`, or with an action `npm run cluster -- ACTION`. */
    run: (action?: string, more: Record<string, string> = {}) => run('cluster', action ? [action] : [], more),
    /** `npm start` on the cluster's data, on other ports. */
    start: () => run('start', [], { REDIS_URL: '', HTTP_PORT: '0', GATEWAY_PORT: '0' }),
    /** `npm run import` of members with a post each. */
    importMembers: () => importMembers(folder, env, POPULATION),
    /** Pids of the processes that use this cluster's folder, pm2's daemon included. */
    pids: () => pidsOf(folder),
    /** Kills what still runs, and removes the folder. */
    async destroy(): Promise<void> {
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
