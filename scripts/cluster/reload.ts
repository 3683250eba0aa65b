import pc from 'picocolors';
import { type Config, loadConfig } from '../../domain/platform/config.js';
import { address } from '../address.js';
import { markLogs } from './logs.js';
import { connectManager, isRunning, type Managed, type Manager } from './manager.js';
import { type Places, placesOf } from './places.js';
import { createReadiness, type Readiness, whenReady, within } from './readiness.js';

/** How long, in ms, what has said that it is ready may take until /readyz says so too. */
const READYZ_MS = 30_000;

/** What a reload cannot change: half of the processes would be somewhere else for a while. */
const FIXED = ['HOST', 'HTTP_PORT', 'GATEWAY_PORT'] as const;

/**
 * The configuration the new processes will have, checked before the first one is touched: pm2 itself
 * would replace one good process after the other by one that refuses to start.
 *
 * @throws ConfigError, or Error naming what takes a stop and a start
 */
function checkedConfig(running: Managed): Config {
  const before = loadConfig(running.env);
  const after = loadConfig({ ...running.env, ...process.env });
  for (const name of FIXED) {
    if (before[name] !== after[name]) {
      throw new Error(
        `${name}: the cluster runs with ${before[name]}: to change it, stop it and start it again`,
      );
    }
  }
  return after;
}

/**
 * Replaces one process. Of those in cluster mode pm2 starts the new one first; a gateway leaves its
 * clients to the others meanwhile.
 *
 * @throws Error when the new one did not say that it is ready: pm2 itself would go on all the same
 */
async function replace(manager: Manager, readiness: Readiness, one: Managed): Promise<void> {
  readiness.forget(one.id);
  let over = false;
  const reloaded = manager.reload(one.id).finally(() => {
    over = true;
  });
  // One that fails before it is ready is not waited for, though pm2 goes on trying.
  const gone = within(
    Number.POSITIVE_INFINITY,
    () => over || (readiness.hasFailed(one.id) && !readiness.isReady(one.id)),
  );
  await Promise.race([reloaded, gone]);
  if (!readiness.isReady(one.id)) throw new Error(`${one.name} ${one.id} does not get ready`);
  await reloaded;
}

async function reloadAll(manager: Manager, readiness: Readiness, places: Places): Promise<void> {
  const all = await manager.list();
  const serving = [
    ...all.filter(({ name }) => name === 'http'),
    ...all.filter(({ name }) => name === 'gateway'),
  ];
  const [first] = serving;
  if (!first) throw new Error(`No process of ${places.dataDir} serves: npm run cluster -- status`);
  const config = checkedConfig(first);
  const ports: Record<string, number> = { http: config.HTTP_PORT, gateway: config.GATEWAY_PORT };
  const readLog = markLogs(places, ['http', 'gateway']);
  for (const [i, one] of serving.entries()) {
    const began = performance.now();
    try {
      await replace(manager, readiness, one);
      await whenReady(address(config.HOST, ports[one.name] as number), READYZ_MS);
    } catch (error) {
      const left = serving.length - i - 1;
      const kept = left > 0 ? ` ${left} of ${serving.length} processes were not touched.` : '';
      const said = readLog(one.name, 1).join('');
      throw new Error(`${(error as Error).message}: the reload ends here.${kept} ${said}`.trim());
    }
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    process.stdout.write(`  ${pc.green('ready')}  ${one.name} ${one.id}  ${pc.dim(`${seconds} s`)}\n`);
  }
}

/** `npm run cluster -- reload` */
export async function reloadCluster(): Promise<number> {
  const places = placesOf(loadConfig());
  if (!(await isRunning(places))) throw new Error(`No cluster of ${places.dataDir} runs: npm run cluster`);
  // The processes take this command's environment over theirs, and may work in another folder.
  process.env.DATA_DIR = places.dataDir;
  const readiness = createReadiness();
  const manager = await connectManager(places, readiness);
  try {
    await reloadAll(manager, readiness, places);
  } finally {
    await manager.disconnect();
  }
  process.stdout.write('Every process has been replaced.\n');
  return 0;
}
