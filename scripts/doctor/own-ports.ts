import { readTargets } from '../../domain/platform/observe/metrics/targets.js';
import { portFault, tryPort } from '../../domain/platform/process/port-faults.js';
import { type Config, ConfigError, equalPorts } from '../../domain/platform/settings/config.js';
import { checkOwnPorts, plannedProcesses } from '../cluster/own-ports.js';
import { type Check, Fault, failure, ok, Skipped, type Verdict, verdictOf, warning } from './check.js';
import { inspectPort, judgePort } from './ports.js';
import { judgeReadiness, readinessOf } from './readiness.js';

const isRefused = (error: unknown) =>
  error instanceof Fault && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';

/** Asks a process at its own port. @param target its address as `host:port` */
async function askTarget(kind: string, target: string) {
  try {
    const readiness = await readinessOf(`http://${target}`);
    return { isRefused: false, verdict: judgeReadiness(`${kind} at ${target}`, readiness) };
  } catch (error) {
    const remedy = 'npm run cluster -- status; its log (docs/runbook.md, "ProcessDown")';
    return {
      isRefused: isRefused(error),
      verdict: failure(`${kind}: ${(error as Error).message}`, remedy),
    };
  }
}

/** Each process of the cluster that does not answer, or is not ready; undefined if none is listed. */
async function askCluster(config: Config): Promise<{ verdicts: Verdict[]; runs: boolean } | undefined> {
  const listed = (readTargets(config) ?? []).flatMap(({ targets, labels }) =>
    targets.map((target) => ({ kind: labels.process, target })),
  );
  if (listed.length === 0) return undefined;
  const asked = await Promise.all(listed.map(({ kind, target }) => askTarget(kind, target)));
  if (asked.every((one) => one.isRefused)) {
    // As after a restart of the machine: nothing has replaced the list.
    const text = `none of the ${listed.length} processes of the last npm run cluster runs`;
    return { verdicts: [warning(text, 'npm run cluster, if they should')], runs: false };
  }
  const notable = asked.map(({ verdict }) => verdict).filter(({ result }) => result !== 'ok');
  const all = ok(`each of the ${listed.length} processes of the cluster is ready`);
  return { verdicts: notable.length > 0 ? notable : [all], runs: true };
}

/** @returns why a start would be refused: METRICS_PORT by any, the others by `npm run cluster`, which needs Redis */
async function checkFree(config: Config): Promise<Verdict> {
  const { HOST, METRICS_PORT: base, REDIS_URL } = config;
  const error = base === undefined ? undefined : await tryPort(HOST, base);
  if (base !== undefined && error) {
    const fault = portFault('METRICS_PORT', HOST, base, error);
    return failure(fault, 'stop it, or set METRICS_PORT to another port');
  }
  const planned = REDIS_URL ? plannedProcesses(config) : [];
  try {
    await checkOwnPorts(config, planned);
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault;
    return warning(
      `npm run cluster would be refused: ${fault.faults.join('; ')}`,
      'stop it, or set METRICS_PORT to another port',
    );
  }
  if (planned.length > 0) return ok(`the ports of a cluster of ${planned.length} processes are free`);
  if (base !== undefined) return ok('METRICS_PORT is free: nothing serves there now');
  throw new Skipped('METRICS_PORT is not set: no process has a port of its own');
}

async function checkServing(config: Config): Promise<Verdict> {
  const { METRICS_PORT: base } = config;
  if (base === undefined) throw new Skipped('METRICS_PORT is not set: the service has no port of its own');
  return judgePort(await inspectPort(config, 'METRICS_PORT', base), 'METRICS_PORT');
}

/**
 * The ports that a process shares with no other: those of a cluster's processes, else that of the service, else
 * those that a start will open.
 * @param isServing whether the service answers on this machine
 */
export function ownPortChecks(config: () => Config, isServing: () => Promise<boolean>): Check[] {
  async function run(): Promise<Verdict | Verdict[]> {
    const cluster = await askCluster(config());
    if (cluster?.runs) return cluster.verdicts;
    const [equal] = equalPorts(config()).filter((fault) => fault.startsWith('METRICS_PORT'));
    if (equal) return failure(equal, 'set another port');
    if (config().METRICS_PORT === 0) throw new Skipped('METRICS_PORT=0 picks a free port');
    const verdict = (await isServing()) ? checkServing(config()) : checkFree(config());
    return cluster ? [...cluster.verdicts, await verdict.catch(verdictOf)] : verdict;
  }
  return [{ name: 'own ports', run }];
}
