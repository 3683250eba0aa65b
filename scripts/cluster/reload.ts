import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { isMongoUnavailable } from '../../domain/platform/mongo/errors.js';
import { requireSchema } from '../../domain/platform/mongo/migrate.js';
import { type Config, loadConfig, readEnvFile } from '../../domain/platform/settings/config.js';
import { noCluster } from './absence.js';
import { killTimeout } from './kill-timeout.js';
import { followLog } from './log-tail.js';
import { recordTargets, SERVING } from './own-ports.js';
import { type ClusterProcess, Pm2, ReloadUnderWay } from './pm2.js';
import { isRunning, pm2Home } from './pm2-home.js';
import { waitForReadyz } from './readyz.js';
import {
  forgetUnfinished,
  planReload,
  type ReloadMode,
  readUnfinished,
  type UnfinishedReload,
  valuesBefore,
  writeUnfinished,
} from './unfinished-reload.js';

/** How long pm2 may wait for a process that did not start, ms: its `listen_timeout` and more. */
const UNDER_WAY_MS = 90_000;

/** Time between two attempts while it waits, ms. */
const LOOK_MS = 2_000;

/** The lines behind why a reload ended. */
const CONTINUATIONS = `
To go on, once the cause is gone: npm run cluster -- reload --resume
To go back, with the old release and its .env in this folder: npm run cluster -- reload --back`;

/** Settings that a reload cannot change: during it, half of the processes would have another address. */
const FIXED = ['HOST', 'HTTP_PORT', 'GATEWAY_PORT', 'METRICS_PORT'] as const;

/** Settings that the start gives the processes (ecosystem.config.js): these do not read them from `.env`. */
const GIVEN = { always: [...FIXED], embedded: [...FIXED, 'DEMO', 'MONGODB_URI'] } as const;

/**
 * Checks the new processes' configuration before the first is replaced: pm2 itself would replace all of
 * them by processes that refuse to start.
 * @param isEmbedded whether the cluster runs the embedded database
 * @param over what the new processes get over the environment of the old ones
 * @throws ConfigError, or Error naming a setting that needs a stop and a start
 */
export function newConfig(
  { env }: Pick<ClusterProcess, 'env'>,
  isEmbedded: boolean,
  over: NodeJS.ProcessEnv = process.env,
): Config {
  const file = readEnvFile();
  const changed = GIVEN[isEmbedded ? 'embedded' : 'always'].filter((name) => file[name]);
  const given = { ...env, ...Object.fromEntries(changed.map((name) => [name, file[name]])), ...over };
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

/** Replaces a process. @throws Error if the new one does not get ready */
async function replace(
  pm2: Pm2,
  { id, name }: ClusterProcess,
  config: Config,
  { over, waits }: { over: NodeJS.ProcessEnv; waits: boolean },
): Promise<void> {
  const say = (line: string) => process.stdout.write(`  ${name} ${id} ${line}\n`);
  const attempt = () =>
    pm2.reload(id, killTimeout(config), over).catch((error: Error) => {
      if (waits && error instanceof ReloadUnderWay) return undefined;
      throw error;
    });
  let isReady = await attempt();
  if (isReady === undefined) say('waits until pm2 gives up what did not start, up to a minute');
  for (const deadline = Date.now() + UNDER_WAY_MS; isReady === undefined; isReady = await attempt()) {
    if (Date.now() > deadline) throw new Error('Another reload is under way');
    await sleep(LOOK_MS);
  }
  if (!isReady) throw new Error(`${name} ${id} does not get ready`);
  await waitForReadyz(config, name === 'http' ? config.HTTP_PORT : config.GATEWAY_PORT, say);
}

/** Why a reload ended, and the commands that continue it. */
function endOf({ message }: Error, logged: string, left: number, count: number): Error {
  const untouched = left > 0 ? ` ${left} of ${count} processes were not touched.` : '';
  return new Error(`${message}: the reload ends here.${untouched} ${logged}`.trim() + CONTINUATIONS);
}

/**
 * Replaces one process after the other, http first. pm2 starts a new http process before it stops the old
 * one; the clients of a gateway reconnect to the others.
 * @throws Error at the first that does not get ready; what is left can be resumed, and what is done taken back
 */
async function reloadAll(pm2: Pm2, home: string, mode: ReloadMode): Promise<void> {
  const all = await pm2.list();
  const serving = SERVING.flatMap((kind) => all.filter(({ name }) => name === kind));
  if (!serving[0]) throw new Error('No process serves: npm run cluster -- status');
  const unfinished = readUnfinished(home);
  const planned = planReload(mode, serving, unfinished);
  const progress: UnfinishedReload = { touched: {}, ready: [], ...unfinished };
  if (mode === 'all') progress.ready = [];
  /** The processes get this command's environment. */
  const overOf = ({ id }: ClusterProcess) =>
    mode === 'back' ? { ...process.env, ...progress.touched[id] } : process.env;
  const isEmbedded = all.some(({ name }) => name === 'database');
  const config = newConfig(serving[0], isEmbedded, overOf(planned[0] ?? serving[0]));
  if (isEmbedded) process.env.DEMO = config.DEMO ? 'on' : 'off';
  // Else the first gateway would be gone before its replacement refuses to start.
  if (config.MONGODB_URI) await requireSchema(config.MONGODB_URI).catch(unlessAway);
  for (const [i, one] of planned.entries()) {
    const { id, name, env } = one;
    const started = performance.now();
    const readLog = followLog(config, name);
    const over = overOf(one);
    // What an earlier attempt noted is older.
    progress.touched[id] ??= valuesBefore(env, over);
    writeUnfinished(home, progress);
    try {
      await replace(pm2, one, config, { over, waits: mode !== 'all' });
    } catch (error) {
      throw endOf(error as Error, await readLog(1), planned.length - i - 1, planned.length);
    }
    if (mode === 'back') delete progress.touched[id];
    else progress.ready.push(id);
    writeUnfinished(home, progress);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    process.stdout.write(
      `  ${styleText('green', 'ready')}  ${name} ${id}  ${styleText('dim', `${seconds} s`)}\n`,
    );
  }
  forgetUnfinished(home);
}

const DONE: Record<ReloadMode, string> = {
  all: 'Every process has been replaced.',
  resume: 'Every process has been replaced.',
  back: 'What the reload had replaced is taken back.',
};

/** `npm run cluster -- reload [--resume | --back]` */
export async function reloadCluster(mode: ReloadMode): Promise<number> {
  const config = loadConfig();
  const home = pm2Home(config);
  if (!(await isRunning(home))) throw new Error(await noCluster(config));
  // The processes may have another working directory.
  process.env.DATA_DIR = resolve(config.DATA_DIR);
  const pm2 = new Pm2(home);
  await reloadAll(pm2, home, mode);
  recordTargets(config, await pm2.list());
  process.stdout.write(`${DONE[mode]}\n`);
  return 0;
}
