import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../settings/config.js';

/** METRICS_PORT of a cluster that sets none. */
export const CLUSTER_METRICS_PORT = 8_100;

/**
 * The metrics port of one of several processes: gateways have METRICS_PORT and every second one after it, http
 * processes those between, so that each kind can grow.
 *
 * @param base METRICS_PORT
 * @param instance number of the process among those of its kind, from 0
 */
export function metricsPort(base: number, kind: string, instance: number): number {
  return base + 2 * instance + (kind === 'http' ? 1 : 0);
}

/** Addresses to scrape, in the form of Prometheus' file_sd. */
export interface TargetGroup {
  /** As `host:port`. */
  targets: string[];
  labels: { process: string };
}

/** The file in which `npm run cluster` lists its processes. */
export const targetsFile = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>) =>
  join(resolve(DATA_DIR), 'metrics', 'targets.json');

/** @returns the listed processes; undefined if there is no list */
export function readTargets(config: Pick<Config, 'DATA_DIR'>): TargetGroup[] | undefined {
  try {
    return JSON.parse(readFileSync(targetsFile(config), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces the list in one step: Prometheus reads it whenever it changes. */
export function writeTargets(config: Pick<Config, 'DATA_DIR'>, groups: TargetGroup[]): void {
  const file = targetsFile(config);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(groups, undefined, 2)}\n`);
  renameSync(`${file}.new`, file);
}
