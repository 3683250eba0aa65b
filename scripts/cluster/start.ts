import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pc from 'picocolors';
import { issueToken } from '../../domain/members/index.js';
import { type Config, loadConfig } from '../../domain/platform/config.js';
import { createLogger } from '../../domain/platform/logger.js';
import { projectRoot } from '../../domain/platform/project-root.js';
import { address } from '../address.js';
import { makeDataFolder } from '../embedded-mongo/data-folder.js';
import { holdOwner } from '../embedded-mongo/lock.js';
import { addSampleData, SAMPLE_MEMBER } from '../sample-data.js';
import { withDomain } from '../with-domain.js';
import { markLogs } from './logs.js';
import { connectManager, type Manager } from './manager.js';
import { type Places, placesOf } from './places.js';
import { checkPreconditions } from './preconditions.js';
import { createReadiness, type Readiness, whenReady, within } from './readiness.js';
import { stopAll } from './stop.js';

/** How long, in ms, the embedded database has to answer: its recovery after a crash included. */
const DATABASE_MS = 30_000;

/** How long, in ms, /readyz has to say yes once all processes have said that they are ready. */
const READYZ_MS = 30_000;

/** Lines of a process's log that tell why it does not start. */
const LOG_LINES = 5;

/** Whether the database process serves; waits for one that is coming up. */
async function serves(folder: string): Promise<boolean> {
  const hold = await holdOwner(folder);
  await hold?.letGo();
  return hold !== undefined;
}

/** Where the token a person tries things with comes from; also makes the development key, before five processes want one. */
async function tryoutToken(config: Config): Promise<string | undefined> {
  if (config.JWT_PUBLIC_KEY || config.JWKS_URL || config.production) return undefined;
  return issueToken(config, { ...SAMPLE_MEMBER, ttl: '12h' });
}

function welcome(config: Config, processes: number, demo: boolean, token: string | undefined): string {
  const row = (name: string, value: string) => `  ${pc.bold(name.padEnd(24))}${pc.cyan(value)}`;
  const http = address(config.HOST, config.HTTP_PORT);
  return [
    '',
    row('REST and event streams', http),
    row('Sockets', address(config.HOST, config.GATEWAY_PORT)),
    row('API documents', `${http}/docs`),
    ...(demo ? [row('Demo page', `${http}/demo`)] : []),
    '',
    `  ${processes} processes are ready. Try:`,
    `    curl -s '${http}/community/list/recent?size=3'`,
    token && demo
      ? `    curl -s ${http}/chatroom -H 'Authorization: ${token}'`
      : `    curl -s '${http}/adopt/render'`,
    '',
    '  npm run cluster -- status | reload | stop',
    '',
    '',
  ].join('\n');
}

interface Start {
  config: Config;
  places: Places;
  manager: Manager;
  readiness: Readiness;
  file: string;
}

/** Starts one kind of process. @throws Error with the end of its log when one does not get ready */
async function startKind({ manager, readiness, file, places }: Start, name: string): Promise<void> {
  const readLog = markLogs(places, [name]);
  await manager.start(file, name);
  const mine = (await manager.list()).filter((one) => one.name === name);
  const failed = mine.filter(({ id }) => readiness.hasFailed(id) || !readiness.isReady(id));
  if (mine.length > 0 && failed.length === 0) return;
  throw new Error([`${name} does not get ready.`, ...readLog(name, LOG_LINES)].join(' '));
}

/** Starts the embedded database and fills it for the demo. */
async function startDatabase({ config, manager, readiness, file, places }: Start): Promise<void> {
  const readLog = markLogs(places, ['database']);
  const folder = makeDataFolder(places.dataDir);
  await manager.start(file, 'database');
  const ended = async () => (await manager.list()).some(({ id }) => readiness.hasFailed(id));
  const up = await within(DATABASE_MS, async () => (await serves(folder)) || (await ended()));
  if (!up || (await ended()))
    throw new Error(['The embedded database does not start.', ...readLog('database', LOG_LINES)].join(' '));
  if (!config.DEMO) return;
  await withDomain('cluster', async (domain) => {
    await addSampleData(domain, createLogger('warn', 'cluster'));
    return 0;
  });
}

async function startAll(start: Start): Promise<number> {
  if (!start.config.MONGODB_URI) await startDatabase(start);
  await Promise.all(['gateway', 'http'].map((name) => startKind(start, name)));
  const { config, manager } = start;
  for (const port of [config.HTTP_PORT, config.GATEWAY_PORT])
    await whenReady(address(config.HOST, port), READYZ_MS);
  return (await manager.list()).length;
}

/** `npm run cluster` */
export async function startCluster(): Promise<number> {
  const config = loadConfig();
  const places = placesOf(config);
  await checkPreconditions(config, places);
  mkdirSync(places.logs, { recursive: true });
  const token = await tryoutToken(config);

  const readiness = createReadiness();
  const manager = await connectManager(places, readiness);
  // pm2 detaches its daemon: Ctrl-C would leave half a cluster behind.
  const interrupt = () => void stopAll(manager, places).finally(() => process.exit(130));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const file = join(projectRoot(), 'ecosystem.config.js');
    const processes = await startAll({ config, places, manager, readiness, file });
    process.stdout.write(welcome(config, processes, config.DEMO, token));
  } catch (error) {
    await stopAll(manager, places);
    throw error;
  }
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  await manager.disconnect();
  return 0;
}
