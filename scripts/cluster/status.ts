import { loadConfig } from '../../domain/platform/config.js';
import { Pm2 } from './pm2.js';
import { findOrphans, isRunning, pm2Home } from './pm2-home.js';

/** `npm run cluster -- status`: exit status 0 if every process is online, 1 if not, 3 if none runs. */
export async function showStatus(): Promise<number> {
  const config = loadConfig();
  const home = pm2Home(config);
  if (!(await isRunning(home))) {
    const orphans = findOrphans(home);
    process.stdout.write(
      orphans.length > 0
        ? `pm2 is gone, its processes still run (${orphans.join(', ')}): npm run cluster -- stop\n`
        : `No cluster of ${config.DATA_DIR} runs.\n`,
    );
    return 3;
  }
  const pm2 = new Pm2(home);
  const all = await pm2.list();
  await pm2.printTable();
  return all.length > 0 && all.every(({ status }) => status === 'online') ? 0 : 1;
}
