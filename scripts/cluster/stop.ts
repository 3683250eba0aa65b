import { type Config, loadConfig } from '../../domain/platform/settings/config.js';
import { noCluster } from './absence.js';
import { recordTargets } from './own-ports.js';
import { Pm2 } from './pm2.js';
import { endOrphans, isRunning, pm2Home, within } from './pm2-home.js';

/** Time for pm2's daemon to end, with the database, ms. */
const END_MS = 20_000;

/** Stops all processes and pm2: those that serve drain in parallel, then their database stops. */
export async function stopAll(pm2: Pm2, config: Config): Promise<void> {
  const home = pm2Home(config);
  await pm2.delete(({ name }) => name !== 'database');
  await pm2.delete(() => true);
  await pm2.end();
  if (!(await within(END_MS, async () => !(await isRunning(home)))))
    throw new Error(`pm2 of ${home} does not end`);
  recordTargets(config, []);
}

/** `npm run cluster -- stop` */
export async function stopCluster(): Promise<number> {
  const config = loadConfig();
  const home = pm2Home(config);
  let stopped = true;
  if (await isRunning(home)) await stopAll(new Pm2(home), config);
  else {
    stopped = (await endOrphans(home)) > 0;
    if (stopped) recordTargets(config, []);
  }
  process.stdout.write(stopped ? 'Stopped.\n' : `${await noCluster(config)}\n`);
  return 0;
}
