import { styleText } from 'node:util';
import { targetsFile } from '../../domain/platform/observe/metrics/targets.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { type Config, loadConfig } from '../../domain/platform/settings/config.js';
import { baseUrl } from '../start/welcome.js';
import { noCluster } from './absence.js';
import { ownUrl } from './own-ports.js';
import { type ClusterProcess, Pm2 } from './pm2.js';
import { findOrphans, isRunning, pm2Home } from './pm2-home.js';

/** Time for a process to answer on its own port, ms: `/readyz` says after 3 s that the database does not answer. */
const ANSWER_MS = 6_000;

/** What a process says of itself; null: it did not answer, or has no port of its own. */
interface Figures {
  ready: boolean | null;
  /** Why it is not ready, or did not answer. */
  reason: string | null;
  /** What serves its sockets, in a gateway. */
  engine: string | null;
  sockets: number | null;
  streams: number | null;
}

const unknown: Figures = { ready: null, reason: null, engine: null, sockets: null, streams: null };

/** The sum of a metric over its labels, in Prometheus' text format. */
async function sumOf(text: string, metric: { get(): Promise<{ name: string }> }): Promise<number> {
  const { name } = await metric.get();
  const samples = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'));
  return Array.from(samples, ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0);
}

/** Why a process did not answer. */
function whySilent({ name, message, cause }: Error): string {
  if (name === 'TimeoutError') return `no answer within ${ANSWER_MS / 1_000} s`;
  return cause instanceof Error ? cause.message : message;
}

/** Asks a process. */
async function ask(url: string | undefined, token: string | undefined): Promise<Figures> {
  if (!url) return unknown;
  const get = async (path: string) => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` }, signal });
    return { ok: answer.ok, text: await answer.text() };
  };
  const figures = { ...unknown };
  const askReadiness = async () => {
    const { ok, text } = await get('/readyz');
    figures.ready = ok;
    figures.reason = (JSON.parse(text) as { errors?: string[] }).errors?.join('; ') ?? null;
  };
  const askMetrics = async () => {
    const { ok, text } = await get('/metrics');
    if (!ok) return;
    // Processes without sockets name `none`.
    figures.engine = /^\w+\{.*\bengine="(?!none")([^"]+)".*\} 1$/m.exec(text)?.[1] ?? null;
    figures.sockets = await sumOf(text, metrics.sockets);
    figures.streams = await sumOf(text, metrics.streams);
  };
  const [readiness] = await Promise.allSettled([askReadiness(), askMetrics()]);
  if (readiness.status === 'rejected') figures.reason = whySilent(readiness.reason);
  return figures;
}

/** A process as `--json` prints it; docs/operations.md documents the form. */
async function describe(one: ClusterProcess, config: Config) {
  const url = ownUrl(one, config);
  const { id, name, instance, pid, status, cpu, memory, restarts, startedAt } = one;
  const isOnline = status === 'online';
  return {
    ...{ id, process: name, instance, pid: isOnline ? pid : null, status },
    ...(await ask(isOnline ? url : undefined, one.env.METRICS_TOKEN || config.METRICS_TOKEN)),
    cpuPercent: cpu,
    memoryBytes: memory,
    uptimeSeconds: isOnline ? Math.round((Date.now() - startedAt) / 1_000) : 0,
    restarts,
    metrics: url ? `${url}/metrics` : null,
  };
}

type Described = Awaited<ReturnType<typeof describe>>;

const shown = (value: number | string | null) => (value === null ? '-' : String(value));

/** The columns of the table: title, text of a process, and whether it is a number, which stands right. */
const columns: [title: string, text: (one: Described) => string, isNumber?: true][] = [
  ['process', ({ process: name }) => name],
  ['id', ({ id }) => String(id), true],
  ['status', ({ status }) => status],
  ['ready', ({ ready }) => shown(ready === null ? null : ready ? 'yes' : 'no')],
  ['engine', ({ engine }) => shown(engine)],
  ['cpu %', ({ cpuPercent }) => cpuPercent.toFixed(0), true],
  ['MiB', ({ memoryBytes }) => (memoryBytes / 1024 ** 2).toFixed(0), true],
  ['sockets', ({ sockets }) => shown(sockets), true],
  ['streams', ({ streams }) => shown(streams), true],
  ['restarts', ({ restarts }) => String(restarts), true],
  ['uptime s', ({ uptimeSeconds }) => String(uptimeSeconds), true],
  ['metrics', ({ metrics: url }) => shown(url)],
];

function tableOf(all: Described[]): string {
  const cells = columns.map(([title, text, isNumber]) => {
    const column = [title, ...all.map(text)];
    const width = Math.max(...column.map(({ length }) => length));
    return column.map((cell) => (isNumber ? cell.padStart(width) : cell.padEnd(width)));
  });
  const [head = '', ...rows] = [undefined, ...all].map((_, row) =>
    cells
      .map((column) => column[row])
      .join('  ')
      .trimEnd(),
  );
  return [styleText('dim', head), ...rows].join('\n');
}

/** What is printed if pm2 does not run. */
async function absence(config: Config, orphans: number[]): Promise<string> {
  return orphans.length > 0
    ? `pm2 is gone, its processes still run (${orphans.join(', ')}): npm run cluster -- stop`
    : noCluster(config);
}

/**
 * `npm run cluster -- status`: exit status 0 if every process is online, 1 if not, 3 if none runs.
 * @param asJson whether for programs
 */
export async function showStatus(asJson: boolean): Promise<number> {
  const config = loadConfig();
  const home = pm2Home(config);
  // At once: a reader such as `head` may close the pipe after what it wanted.
  const print = (form: object, lines: () => string[]) =>
    process.stdout.write(`${asJson ? JSON.stringify(form, undefined, 2) : lines().join('\n')}\n`);
  if (!(await isRunning(home))) {
    const orphans = findOrphans(home);
    const why = await absence(config, orphans);
    print({ running: false, orphans, processes: [] }, () => [why]);
    return 3;
  }
  const all = await new Pm2(home).list();
  const processes = await Promise.all(all.map((one) => describe(one, config)));
  // Where production shows clients' ports no metrics.
  const own = config.production && !config.METRICS_TOKEN ? all.map((one) => ownUrl(one, config)) : [];
  const base = own.find((url) => url !== undefined) ?? baseUrl(config.HOST, config.HTTP_PORT);
  const mergedMetrics = `${base}/metrics/cluster`;
  const targets = targetsFile(config);
  print({ running: true, orphans: [], mergedMetrics, targets, processes }, () => [
    tableOf(processes),
    ...processes.flatMap(({ process: name, id, ready, reason }) =>
      reason ? [`${name} ${id} ${ready === null ? 'says nothing' : 'is not ready'}: ${reason}`] : [],
    ),
    `All metrics: ${mergedMetrics}  For Prometheus' file_sd: ${targets}`,
  ]);
  return all.length > 0 && all.every(({ status }) => status === 'online') ? 0 : 1;
}
