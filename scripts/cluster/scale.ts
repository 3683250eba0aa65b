import { styleText } from 'node:util';
import { type Config, loadConfig } from '../../domain/platform/settings/config.js';
import { UsageError } from '../command/run-command.js';
import { noCluster } from './absence.js';
import { followLog } from './log-tail.js';
import { checkOwnPorts, recordTargets } from './own-ports.js';
import { type ClusterProcess, Pm2 } from './pm2.js';
import { isRunning, pm2Home, within } from './pm2-home.js';

/** Time for a process to get ready, ms. */
const READY_MS = 30_000;

/** Time in which pm2 starts a process again that ended while it was removed, ms. */
const RESTART_MS = 2_000;

/** Lines of its log that are shown when a process does not start. */
const LOG_LINES = 5;

/** The kind of process that each word of the command stands for. */
const WORDS = { gateways: 'gateway', http: 'http' } as const;

/** @throws UsageError naming what is not `gateways=N` or `http=N` with N from 1 to 999 */
function readCounts(args: string[]): Map<string, number> {
  if (args.length === 0) throw new UsageError('scale needs numbers of processes: gateways=4 http=3');
  const counts = new Map<string, number>();
  for (const arg of args) {
    const [, word, count] = /^(gateways|http)=([1-9]\d{0,2})$/.exec(arg) ?? [];
    if (!word) throw new UsageError(`${arg}: must be gateways=N or http=N, with N from 1 to 999`);
    counts.set(WORDS[word as keyof typeof WORDS], Number(count));
  }
  return counts;
}

/** Adds one process. @throws Error with the end of its log if it does not get ready; it is removed again */
async function addOne(config: Config, pm2: Pm2, kind: string): Promise<void> {
  const started = performance.now();
  const readLog = followLog(config, kind);
  const { added, isReady } = await pm2.add(kind, READY_MS);
  if (!isReady) {
    const isAdded = ({ id }: ClusterProcess) => id === added.id;
    // pm2 may start it once more after it was removed.
    do await pm2.delete(isAdded);
    while (await within(RESTART_MS, async () => (await pm2.list()).some(isAdded)));
    throw new Error(`A new ${kind} does not get ready, and was removed. ${await readLog(LOG_LINES)}`.trim());
  }
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stdout.write(
    `  ${styleText('green', 'ready')}    ${kind} ${added.id}  ${styleText('dim', `${seconds} s`)}\n`,
  );
}

/** Removes processes, the newest numbers; all drain at once. */
async function removeSome(pm2: Pm2, leaving: ClusterProcess[]): Promise<void> {
  await pm2.delete(({ id }) => leaving.some((one) => one.id === id));
  for (const { name, id } of leaving)
    process.stdout.write(`  ${styleText('yellow', 'removed')}  ${name} ${id}\n`);
}

async function scaleAll(config: Config, pm2: Pm2, counts: Map<string, number>): Promise<void> {
  const all = await pm2.list();
  const of = (kind: string) =>
    all.filter(({ name }) => name === kind).sort((one, other) => one.instance - other.instance);
  const missing = [...counts].flatMap(([kind, count]) => {
    const has = new Set(of(kind).map(({ instance }) => instance));
    const numbers = Array.from({ length: count + has.size }, (_, i) => i).filter((i) => !has.has(i));
    return numbers.slice(0, Math.max(0, count - has.size)).map((instance) => ({ kind, instance }));
  });
  const [first] = of('http');
  if (first) await checkOwnPorts(loadConfig(first.env), missing);
  // First: the clients of those that go find the new ones.
  for (const { kind } of missing) await addOne(config, pm2, kind);
  await removeSome(
    pm2,
    [...counts].flatMap(([kind, count]) => of(kind).slice(count)),
  );
}

/** `npm run cluster -- scale gateways=N http=N` */
export async function scaleCluster(args: string[]): Promise<number> {
  const counts = readCounts(args);
  const config = loadConfig();
  const home = pm2Home(config);
  if (!(await isRunning(home))) throw new Error(await noCluster(config));
  const pm2 = new Pm2(home);
  try {
    await scaleAll(config, pm2, counts);
  } finally {
    recordTargets(config, await pm2.list());
  }
  const setting = [...counts].map(([kind, count]) => `${kind.toUpperCase()}_INSTANCES=${count}`).join(' ');
  process.stdout.write(`This holds until the cluster is stopped; to start it so: ${setting}\n`);
  return 0;
}
