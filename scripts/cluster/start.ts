import { join } from 'node:path';
import { makePrivate } from 'embedded-mongo/data-folder';
import { connectMongo, disconnectMongo } from '../../domain/platform/mongo/connection.js';
import { prepareDatabase } from '../../domain/platform/mongo/migrate.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { type Config, loadConfig } from '../../domain/platform/settings/config.js';
import { openDatabase } from '../command/open-database.js';
import { withDomain } from '../command/with-domain.js';
import { addSampleData } from '../sample-data/add-sample-data.js';
import { welcome } from '../start/welcome.js';
import { followLog, logFolder } from './log-tail.js';
import { recordTargets } from './own-ports.js';
import { Pm2 } from './pm2.js';
import { pm2Home } from './pm2-home.js';
import { checkPreconditions, clusterFaults } from './preconditions.js';
import { waitForReadyz } from './readyz.js';
import { stopAll } from './stop.js';
import { forgetUnfinished } from './unfinished-reload.js';

/** Time for the processes of a kind to get ready, ms, including a database's recovery after a crash. */
const READY_MS = 30_000;

/** Lines of its log that are shown when a process does not start. */
const LOG_LINES = 5;

/** Starts the processes of a kind. @throws Error with the end of their log if one does not get ready */
async function startKind(config: Config, pm2: Pm2, kind: string): Promise<void> {
  const readLog = followLog(config, kind);
  const isReady = await pm2.start(join(projectRoot(), 'ecosystem.config.js'), kind, READY_MS);
  if (!isReady) throw new Error(`${kind} does not get ready. ${await readLog(LOG_LINES)}`);
}

/** Brings the embedded database to this release's version: no process of another release uses it now. */
async function migrateEmbedded(config: Config): Promise<void> {
  const database = await openDatabase(config);
  try {
    await connectMongo(database.uri);
    await prepareDatabase(database.uri, 'finish', (text) => process.stdout.write(`${text}\n`));
  } finally {
    await disconnectMongo();
    await database.close();
  }
}

async function startAll(config: Config, pm2: Pm2): Promise<void> {
  if (!config.MONGODB_URI) {
    await startKind(config, pm2, 'database');
    await migrateEmbedded(config);
    if (config.DEMO)
      await withDomain('cluster', (domain) => addSampleData(domain, createLogger('warn', 'cluster')));
  }
  await Promise.all(['gateway', 'http'].map((kind) => startKind(config, pm2, kind)));
  for (const port of [config.HTTP_PORT, config.GATEWAY_PORT]) await waitForReadyz(config, port);
  recordTargets(config, await pm2.list());
}

/** `npm run cluster` */
export async function startCluster(): Promise<number> {
  const config = loadConfig(undefined, undefined, clusterFaults);
  const pm2 = new Pm2(pm2Home(config));
  await checkPreconditions(config);
  // pm2 keeps a log, and the environment of each process, in its home.
  for (const folder of [logFolder(config), pm2Home(config)]) makePrivate(folder);
  forgetUnfinished(pm2Home(config));
  const { HTTP_PORT: httpPort, GATEWAY_PORT: gatewayPort, HTTP_INSTANCES, GATEWAY_INSTANCES } = config;
  const processes = HTTP_INSTANCES + GATEWAY_INSTANCES + (config.MONGODB_URI ? 0 : 1);
  const text = await welcome(
    config,
    { httpPort, gatewayPort },
    `${processes} processes are ready. Try:`,
    'npm run cluster -- status | logs | scale | reload | stop',
  );

  // pm2's daemon is detached: Ctrl-C alone would leave half a cluster running.
  let isStopping = false;
  const interrupt = () => {
    if (isStopping) return;
    isStopping = true;
    void stopAll(pm2, config).finally(() => process.exit(130));
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    await startAll(config, pm2);
  } catch (error) {
    await stopAll(pm2, config).catch((fault: Error) => process.stderr.write(`${fault.message}\n`));
    throw error;
  }
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  process.stdout.write(text);
  return 0;
}
