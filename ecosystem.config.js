import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLUSTER_METRICS_PORT } from './dist/domain/platform/observe/metrics/targets.js';
import { loadConfig } from './dist/domain/platform/settings/config.js';
import { killTimeout } from './dist/scripts/cluster/kill-timeout.js';
import { DATABASE } from './dist/scripts/command/open-database.js';

/**
 * pm2's process list. Start it with `npm run cluster`, which checks the settings, starts the embedded database
 * first if there is one, and waits until everything serves.
 *
 * pm2 7 on Node 20 accepts an ES module only with an export named `apps`: a default export fails with
 * "No script path".
 */

const config = loadConfig();
const dataDir = resolve(config.DATA_DIR);
const logs = join(dataDir, 'logs');
const embedded = !config.MONGODB_URI;
/** The embedded database's socket, whichever process serves it (packages/embedded-mongo/src/folder/data-folder.ts). */
const databaseSocket = encodeURIComponent(join(dataDir, 'mongo', 'db.sock'));

/** Settings of all processes. */
const common = {
  cwd: process.cwd(),
  node_args: '--enable-source-maps',
  // One file for all processes of a kind: each line has its process's id.
  merge_logs: true,
  // pm2's own monitoring would open a server and patch modules in every process; /metrics has the figures.
  pmx: false,
  vizion: false,
  kill_timeout: killTimeout(config),
  // Restarts a process that cannot start, after growing delays of up to 15 s, indefinitely.
  exp_backoff_restart_delay: 200,
  // For process.send('ready'). After listen_timeout pm2 continues as if it had been sent.
  wait_ready: true,
  listen_timeout: 60_000,
};

const serving = {
  ...common,
  // A larger young generation saves about a tenth of the CPU under load (docs/performance.md).
  node_args: '--enable-source-maps --max-semi-space-size=64',
  // Of `.env`, too: a changed one must not give a restarted process another address than the others have.
  env: {
    DATA_DIR: dataDir,
    HOST: config.HOST,
    HTTP_PORT: String(config.HTTP_PORT),
    GATEWAY_PORT: String(config.GATEWAY_PORT),
    METRICS_PORT: String(config.METRICS_PORT ?? CLUSTER_METRICS_PORT),
    ...(embedded
      ? {
          MONGODB_URI: `mongodb://${databaseSocket}/${DATABASE}`,
          DEMO: config.DEMO ? 'on' : 'off',
        }
      : {}),
  },
};

export const apps = [
  ...(embedded
    ? [
        {
          ...common,
          name: 'database',
          script: fileURLToPath(import.meta.resolve('embedded-mongo/main')),
          args: ['--data-dir', dataDir, '--database', DATABASE],
          exec_mode: 'fork',
          instances: 1,
          out_file: join(logs, 'database.out.log'),
          error_file: join(logs, 'database.log'),
        },
      ]
    : []),
  {
    ...serving,
    name: 'gateway',
    script: join(import.meta.dirname, 'dist/gateway/main.js'),
    // Separate servers on one port: the kernel spreads connections (SO_REUSEPORT), which node's cluster
    // module cannot do for uWebSockets.js.
    exec_mode: 'fork',
    instances: config.GATEWAY_INSTANCES,
    out_file: join(logs, 'gateway.out.log'),
    error_file: join(logs, 'gateway.log'),
  },
  {
    ...serving,
    name: 'http',
    script: join(import.meta.dirname, 'dist/http/main.js'),
    // The listening socket belongs to pm2's daemon, which distributes connections: a reload never closes it.
    exec_mode: 'cluster',
    instances: config.HTTP_INSTANCES,
    out_file: join(logs, 'http.out.log'),
    error_file: join(logs, 'http.log'),
  },
];
