import { cpus, release, totalmem } from 'node:os';

export type Machine = ReturnType<typeof machine>;

/** The machine of a measurement. */
export function machine() {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.versions.node,
  };
}
