import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { type Config, loadConfig, readEnvFile } from '../../domain/platform/config.js';
import { isMongoUnavailable } from '../../domain/platform/mongo/errors.js';
import { requireSchema } from '../../domain/platform/mongo/migrate.js';
import { noCluster } from './absence.js';
import { killTimeout } from './kill-timeout.js';
import { followLog } from './log-tail.js';
import { recordTargets, SERVING } from './own-ports.js';
import { type ClusterProcess, Pm2 } from './pm2.js';
import { isRunning, pm2Home } from './pm2-home.js';
import { waitForReadyz } from './readyz.js';

/** Settings that a reload cannot change: during it, half of the processes would have another address. */
const FIXED = ['HOST', 'HTTP_PORT', 'GATEWAY_PORT', 'METRICS_PORT'] as const;

/** Settings that the start gives the processes (ecosystem.config.js): these do not read them from `.env`. */
const GIVEN = { always: [...FIXED], embedded: [...FIXED, 'DEMO', 'MONGODB_URI'] } as const;

/**
 * Checks the new processes' configuration before the first is replaced: pm2 itself would replace all of
 * them by processes that refuse to start.
 * @param isEmbedded whether the cluster runs the embedded database
 * @throws ConfigError, or Error naming a setting that needs a stop and a start
 */
export function newConfig({ env }: Pick<ClusterProcess, 'env'>, isEmbedded: boolean): Config {
  const file = readEnvFile();
  const changed = GIVEN[isEmbedded ? 'embedded' : 'always'].filter((name) => file[name]);
  const given = { ...env, ...Object.fromEntries(changed.map((name) => [name, file[name]])), ...process.env };
  const after = loadConfig(given);
  // The new settings but for these: the others of the old ones need not be valid for this release.
  const known = FIXED.filter((name) => env[name]);
  const before = loadConfig({ ...given, ...Object.fromEntries(known.map((name) => [name, env[name]])) });
  const moved = known.find((name) => before[name] !== after[name]);
  const other =
    isEmbedded && after.MONGODB_URI !== env.MONGODB_URI
      ? 'MONGODB_URI: the cluster runs with the embedded database'
      : moved && `${moved}: the cluster runs with ${before[moved]}, not ${after[moved]}`;
  if (other) throw new Error(`${other}: to change it, stop it and start it again`);
  return after;
}

/** A database that does not answer is reported with the first process, which waits for it. */
function unlessAway(error: unknown): void {
  if (!isMongoUnavailable(error)) throw error;
}

/**
 * Replaces one process after the other, http first. pm2 starts a new http process before it stops the old
 * one; the clients of a gateway reconnect to the others.
 * @throws Error at the first that does not get ready
 */
async function reloadAll(pm2: Pm2): Promise<void> {
  const all = await pm2.list();
  const serving = SERVING.flatMap((kind) => all.filter(({ name }) => name === kind));
  if (!serving[0]) throw new Error('No process serves: npm run cluster -- status');
  const isEmbedded = all.some(({ name }) => name === 'database');
  const config = newConfig(serving[0], isEmbedded);
  // The processes get this command's environment.
  if (isEmbedded) process.env.DEMO = config.DEMO ? 'on' : 'off';
  // Else the first gateway would be gone before its replacement refuses to start.
  if (config.MONGODB_URI) await requireSchema(config.MONGODB_URI).catch(unlessAway);
  for (const [i, { id, name }] of serving.entries()) {
    const started = performance.now();
    const readLog = followLog(config, name);
    try {
      if (!(await pm2.reload(id, killTimeout(config)))) throw new Error(`${name} ${id} does not get ready`);
      await waitForReadyz(config, name === 'http' ? config.HTTP_PORT : config.GATEWAY_PORT);
    } catch (error) {
      const left = serving.length - i - 1;
      const untouched = left > 0 ? ` ${left} of ${serving.length} processes were not touched.` : '';
      const logged = await readLog(1);
      throw new Error(`${(error as Error).message}: the reload ends here.${untouched} ${logged}`.trim());
    }
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    process.stdout.write(
      `  ${styleText('green', 'ready')}  ${name} ${id}  ${styleText('dim', `${seconds} s`)}\n`,
    );
  }
}

/** `npm run cluster -- reload` */
export async function reloadCluster(): Promise<number> {
  const config = loadConfig();
  const home = pm2Home(config);
  if (!(await isRunning(home))) throw new Error(await noCluster(config));
  // The processes may have another working directory.
  process.env.DATA_DIR = resolve(config.DATA_DIR);
  const pm2 = new Pm2(home);
  await reloadAll(pm2);
  recordTargets(config, await pm2.list());
  process.stdout.write('Every process has been replaced.\n');
  return 0;
}
