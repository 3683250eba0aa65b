import {
  CLUSTER_METRICS_PORT,
  metricsPort,
  type TargetGroup,
  writeTargets,
} from '../../domain/platform/observe/metrics/targets.js';
import { portFault, tryPort } from '../../domain/platform/process/port-faults.js';
import { type Config, ConfigError } from '../../domain/platform/settings/config.js';
import { baseUrl } from '../start/welcome.js';
import type { ClusterProcess } from './pm2.js';

/** The kinds of processes that serve clients, in the order of a reload. */
export const SERVING = ['http', 'gateway'] as const;

/** The URL of a process's own port; undefined for the database. */
export function ownUrl({ name, env, instance }: ClusterProcess, { HOST }: Config): string | undefined {
  if (!(SERVING as readonly string[]).includes(name)) return undefined;
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

/** The processes that serve clients, as a start of the cluster makes them. */
export function plannedProcesses({
  GATEWAY_INSTANCES: gateway,
  HTTP_INSTANCES: http,
}: Pick<Config, 'GATEWAY_INSTANCES' | 'HTTP_INSTANCES'>): { kind: string; instance: number }[] {
  return Object.entries({ gateway, http }).flatMap(([kind, length]) =>
    Array.from({ length }, (_, instance) => ({ kind, instance })),
  );
}

/**
 * Checks the metrics ports of processes that are about to start.
 * @param added their kind and number
 * @throws ConfigError naming the first that cannot be bound, or another port of the cluster
 */
export async function checkOwnPorts(
  config: Pick<Config, 'HOST' | 'HTTP_PORT' | 'GATEWAY_PORT' | 'METRICS_PORT'>,
  added: { kind: string; instance: number }[],
): Promise<void> {
  const { HOST, METRICS_PORT: base = CLUSTER_METRICS_PORT } = config;
  for (const { kind, instance } of added) {
    const port = metricsPort(base, kind, instance);
    const setting = `METRICS_PORT of ${kind} ${instance}`;
    if (port > 65_535) throw new ConfigError([`${setting}: ${port} is above 65535`]);
    for (const name of ['HTTP_PORT', 'GATEWAY_PORT'] as const)
      if (config[name] === port) throw new ConfigError([`${setting}: ${port} is ${name}`]);
    const error = await tryPort(HOST, port);
    if (error) throw new ConfigError([portFault(setting, HOST, port, error)]);
  }
}
