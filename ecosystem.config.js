import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'dotenv';

/**
 * pm2's process list. Start it with `npm run cluster`, which checks the settings, starts the embedded database
 * first if there is one, and waits until everything serves. With MONGODB_URI and REDIS_URL set,
 * `pm2-runtime start ecosystem.config.js` (a container) works too.
 *
 * pm2 7 on Node 20 accepts an ES module only with an export named `apps`: a default export fails with
 * "No script path".
 */

/** The environment over `.env`, as domain/platform/config.ts reads them; empty values count as unset. */
const file = existsSync('.env') ? parse(readFileSync('.env')) : {};
const settings = Object.fromEntries(Object.entries({ ...file, ...process.env }).filter(([, value]) => value));

const dataDir = resolve(settings.DATA_DIR ?? '.data');
const logs = join(dataDir, 'logs');
/** The embedded database's socket, whichever process serves it (scripts/embedded-mongo/data-folder.ts). */
const databaseSocket = encodeURIComponent(join(dataDir, 'mongo', 'db.sock'));
const embedded = !settings.MONGODB_URI;

/** Time before a stopping process is killed, ms: its own deadline, and time to log that it missed it. */
const killTimeout = Number(settings.SHUTDOWN_TIMEOUT_MS ?? 10_000) + 2_000;

/** Settings of all processes. */
const common = {
  cwd: process.cwd(),
  node_args: '--enable-source-maps',
  // One file for all processes of a kind: each line has its process's id.
  merge_logs: true,
  // pm2's own monitoring would open a server and patch modules in every process; /metrics has the figures.
  pmx: false,
  vizion: false,
  kill_timeout: killTimeout,
  // Retries a process that cannot start after growing delays, up to 15 s, without end.
  exp_backoff_restart_delay: 200,
};

const serving = {
  ...common,
  // A larger young generation saves about a tenth of the CPU under load (docs/performance.md).
  node_args: '--enable-source-maps --max-semi-space-size=64',
  // For process.send('ready') in domain/run-process.ts. After listen_timeout pm2 continues as if it had been sent.
  wait_ready: true,
  listen_timeout: 60_000,
  env: {
    DATA_DIR: dataDir,
    ...(embedded
      ? {
          MONGODB_URI: `mongodb://${databaseSocket}/adoption`,
          DEMO: settings.DEMO ?? 'on',
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
          script: join(import.meta.dirname, 'dist/scripts/embedded-mongo/main.js'),
          args: ['--data-dir', dataDir],
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
    instances: Number(settings.GATEWAY_INSTANCES ?? 3),
    out_file: join(logs, 'gateway.out.log'),
    error_file: join(logs, 'gateway.log'),
  },
  {
    ...serving,
    name: 'http',
    script: join(import.meta.dirname, 'dist/http/main.js'),
    // The listening socket belongs to pm2's daemon, which distributes connections: a reload never closes it.
    exec_mode: 'cluster',
    instances: Number(settings.HTTP_INSTANCES ?? 2),
    out_file: join(logs, 'http.out.log'),
    error_file: join(logs, 'http.log'),
  },
];
