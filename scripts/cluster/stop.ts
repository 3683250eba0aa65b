import { loadConfig } from '../../domain/platform/config.js';
import { connectManager, isRunning, type Manager } from './manager.js';
import { endOrphans } from './orphans.js';
import { type Places, placesOf } from './places.js';
import { within } from './readiness.js';

/** How long, in ms, pm2's daemon may take to end. */
const DAEMON_MS = 10_000;

/** Rounds of removing: pm2 starts a process again that is removed before it was ready. */
const ROUNDS = 5;

async function removeAll(manager: Manager, fits: (name: string) => boolean): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = (await manager.list()).filter(({ name }) => fits(name));
    if (found.length === 0) return;
    await Promise.all(found.map(({ id }) => manager.remove(id)));
  }
}

/**
 * Ends every process and then pm2: those that serve drain side by side, and the database they share goes
 * when they are gone.
 */
export async function stopAll(manager: Manager, places: Places): Promise<void> {
  await removeAll(manager, (name) => name !== 'database');
  await removeAll(manager, () => true);
  await manager.end();
  const ended = await within(DAEMON_MS, async () => !(await isRunning(places)));
  if (!ended) throw new Error(`pm2 of ${places.home} does not end`);
}

/** `npm run cluster -- stop` */
export async function stopCluster(): Promise<number> {
  const places = placesOf(loadConfig());
  if (await isRunning(places)) await stopAll(await connectManager(places), places);
  else if ((await endOrphans(places)) === 0) {
    process.stdout.write(`No cluster of ${places.dataDir} runs.\n`);
    return 0;
  }
  process.stdout.write('Stopped.\n');
  return 0;
}
