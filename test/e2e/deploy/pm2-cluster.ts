import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TargetGroup, targetsFile } from '../../../domain/platform/observe/metrics/targets.js';
import { tryPort } from '../../../domain/platform/process/port-faults.js';
import { pm2Home } from '../../../scripts/cluster/pm2-home.js';
import { freePort } from '../../../scripts/command/ports.js';
import { runProgram, startProgram } from '../../support/child-process.js';
import { createClusterMembers, importMembers } from '../../support/cluster-members.js';
import { startRedis } from '../../support/redis.js';

/** Signs the tokens of the cluster's members. */
const SECRET = 'a secret of the pm2 cluster, long enough for HS256';

const POPULATION = { members: 80, postsEach: 1 };

/** The output of `status --json`. */
interface ShownCluster {
  running: boolean;
  mergedMetrics: string;
  processes: ShownProcess[];
}

interface ShownProcess {
  id: number;
  process: string;
  instance: number;
  pid: number | null;
  status: string;
  ready: boolean | null;
  reason: string | null;
  engine: string | null;
  sockets: number | null;
  streams: number | null;
  cpuPercent: number;
  memoryBytes: number;
  uptimeSeconds: number;
  restarts: number;
  metrics: string | null;
}

/** A cluster of `npm run cluster`, with its own Redis, folder and ports. */
export type Pm2Cluster = Awaited<ReturnType<typeof preparePm2Cluster>>;

/** The metrics ports of up to four processes of each kind begin here: above all of freePort(), below the ephemeral ones. */
async function freeMetricsPort(): Promise<number> {
  const base = 32_010 + Math.floor(Math.random() * 700);
  const ports = Array.from({ length: 8 }, (_, i) => base + i);
  const free = await Promise.all(ports.map((port) => tryPort('127.0.0.1', port)));
  return free.every((error) => !error) ? base : freeMetricsPort();
}

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
    METRICS_PORT: String(await freeMetricsPort()),
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
    /** pm2's folder. */
    home: pm2Home({ DATA_DIR: folder }),
    /** `npm run cluster`, or with an action and its arguments `npm run cluster -- ACTION`. */
    run: (action?: string, more: Record<string, string> = {}) =>
      run('cluster', action?.split(' ') ?? [], more),
    /** `npm run cluster -- logs --follow`, until it is killed. */
    followLogs() {
      const args = ['logs', '--lines', '0', '--follow'];
      return startProgram({ path: 'scripts/cluster.js', args, folder, env });
    },
    /** What `status --json` prints. */
    async status(): Promise<ShownCluster> {
      return JSON.parse((await run('cluster', ['status', '--json'], {})).output);
    },
    /** What the cluster lists for Prometheus, by kind of process. */
    targets(): Record<string, string[]> {
      const groups: TargetGroup[] = JSON.parse(readFileSync(targetsFile({ DATA_DIR: folder }), 'utf8'));
      return Object.fromEntries(groups.map(({ labels, targets }) => [labels.process, targets]));
    },
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
