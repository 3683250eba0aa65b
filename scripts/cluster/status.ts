import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { loadConfig } from '../../domain/platform/config.js';
import { projectRoot } from '../../domain/platform/project-root.js';
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
  const pm2 = await Pm2.connect(home);
  const all = await pm2.list();
  await pm2.disconnect();
  // pm2's command colours its table also when its output is piped.
  const env = process.stdout.isTTY ? process.env : { ...process.env, FORCE_COLOR: '0' };
  const command = join(projectRoot(), 'node_modules', 'pm2', 'bin', 'pm2');
  spawnSync(process.execPath, [command, 'list'], { env, stdio: 'inherit' });
  return all.length > 0 && all.every(({ status }) => status === 'online') ? 0 : 1;
}
