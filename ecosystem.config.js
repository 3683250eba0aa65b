import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'dotenv';

/**
 * pm2's list of processes. `npm run cluster` is the way to start it: it checks the settings, starts the
 * embedded database first where there is one, and waits until everything serves. With MONGODB_URI and
 * REDIS_URL set, `pm2-runtime start ecosystem.config.js` (a container) does as well.
 *
 * pm2 7 on Node 20 takes an ES module only with this very export; a default export is "No script path".
 */

/** The environment over `.env`, as domain/platform/config.ts reads them; nothing set to nothing counts. */
const file = existsSync('.env') ? parse(readFileSync('.env')) : {};
const settings = Object.fromEntries(Object.entries({ ...file, ...process.env }).filter(([, value]) => value));

const dataDir = resolve(settings.DATA_DIR ?? '.data');
const logs = join(dataDir, 'logs');
/** Where the embedded database listens, whichever process serves it (scripts/embedded-mongo/data-folder.ts). */
const databaseSocket = encodeURIComponent(join(dataDir, 'mongo', 'db.sock'));
const embedded = !settings.MONGODB_URI;

/** A process that drains gets its own deadline, and the time to say so, before it is killed. */
const killTimeout = Number(settings.SHUTDOWN_TIMEOUT_MS ?? 10_000) + 2_000;

/** What all processes have in common. */
const every = {
  cwd: process.cwd(),
  node_args: '--enable-source-maps',
  // One file for all processes of a kind: each line names its process.
  merge_logs: true,
  // pm2's own probe would open a server and patch modules in every process; /metrics has the figures.
  pmx: false,
  vizion: false,
  kill_timeout: killTimeout,
  // A process that cannot start is tried again later and later, up to every 15 s, and never given up.
  exp_backoff_restart_delay: 200,
};

const serving = {
  ...every,
  // A larger young generation: under load most of what is made dies there, at some tenth less CPU (docs/performance.md).
  node_args: '--enable-source-maps --max-semi-space-size=64',
  // process.send('ready'), domain/run-process.ts. Past listen_timeout pm2 goes on as if it had been said.
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
          ...every,
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
    // Each is a server of its own on one port: the kernel spreads connections (SO_REUSEPORT), which
    // node's cluster module cannot do for uWebSockets.js.
    exec_mode: 'fork',
    instances: Number(settings.GATEWAY_INSTANCES ?? 3),
    out_file: join(logs, 'gateway.out.log'),
    error_file: join(logs, 'gateway.log'),
  },
  {
    ...serving,
    name: 'http',
    script: join(import.meta.dirname, 'dist/http/main.js'),
    // The listening socket belongs to pm2's daemon, which hands connections out: it never closes in a reload.
    exec_mode: 'cluster',
    instances: Number(settings.HTTP_INSTANCES ?? 2),
    out_file: join(logs, 'http.out.log'),
    error_file: join(logs, 'http.log'),
  },
];
