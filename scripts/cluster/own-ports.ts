import { type Config, ConfigError } from '../../domain/platform/config.js';
import {
  CLUSTER_METRICS_PORT,
  metricsPort,
  type TargetGroup,
  writeTargets,
} from '../../domain/platform/metrics/targets.js';
import { isFree } from '../command/ports.js';
import { baseUrl } from '../start/welcome.js';
import type { ClusterProcess } from './pm2.js';

/** The kinds of processes that serve clients, in the order of a reload. */
export const SERVING = ['http', 'gateway'] as const;

/** The URL of a process's own port; undefined for the database, and for one that was started without. */
export function ownUrl({ name, env, instance }: ClusterProcess, { HOST }: Config): string | undefined {
  if (!(SERVING as readonly string[]).includes(name) || !env.METRICS_PORT) return undefined;
  return baseUrl(env.HOST || HOST, metricsPort(Number(env.METRICS_PORT), name, instance));
}

/** Lists the processes for Prometheus, and for the merged metrics. */
export function recordTargets(config: Config, all: ClusterProcess[]): void {
  const groups = SERVING.map((kind): TargetGroup => {
    const urls = all.filter(({ name }) => name === kind).map((one) => ownUrl(one, config));
    return {
      targets: urls.flatMap((url) => (url ? [new URL(url).host] : [])),
      labels: { process: kind },
    };
  });
  writeTargets(config, groups);
}

/**
 * Checks the metrics ports of processes that are about to start.
 * @param added their kind and number
 * @throws ConfigError naming the first that is taken, or another port of the cluster
 */
export async function checkOwnPorts(
  config: Pick<Config, 'HOST' | 'HTTP_PORT' | 'GATEWAY_PORT' | 'METRICS_PORT'>,
  added: { kind: string; instance: number }[],
): Promise<void> {
  const { HOST, METRICS_PORT: base = CLUSTER_METRICS_PORT } = config;
  for (const { kind, instance } of added) {
    const port = metricsPort(base, kind, instance);
    const refuse = (why: string) =>
      new ConfigError([`METRICS_PORT: ${port}, of ${kind} ${instance}, ${why}`]);
    if (port > 65_535) throw refuse('is above 65535');
    for (const name of ['HTTP_PORT', 'GATEWAY_PORT'] as const)
      if (config[name] === port) throw refuse(`is ${name}`);
    if (!(await isFree(HOST, port))) throw refuse(`is taken on ${HOST}`);
  }
}
