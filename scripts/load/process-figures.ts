import { readdirSync, readFileSync } from 'node:fs';

/** @returns undefined if the process or thread has ended since it was listed */
export function readIfAlive(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/**
 * CPU time of a process so far, user and system, in µs: the run time of all its threads. (proc(5);
 * `schedstat` counts nanoseconds, `stat` hundredths of a second)
 *
 * @throws Error if the process has ended
 */
export function cpuMicros(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((total, thread) => {
    const nanos = readIfAlive(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0];
    return total + Number(nanos ?? 0) / 1_000;
  }, 0);
}

/** A sum over all memory of a process, in bytes. (proc(5), smaps_rollup) */
function memorySum(pid: number, field: 'Private_Dirty' | 'Rss'): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
}

/** Memory that belongs to a process alone, in bytes, without pages that mirror files, which the kernel can reclaim. */
export const privateBytes = (pid: number): number => memorySum(pid, 'Private_Dirty');

/** All memory of a process that is not swapped out, in bytes, shared pages and those of files included. */
export const residentBytes = (pid: number): number => memorySum(pid, 'Rss');

/** How many files and sockets a process has open. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** A process and all its descendants: nginx, for one, serves from a child. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = readIfAlive(`/proc/${pid}/stat`);
    if (stat === undefined) continue;
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
  }
  const treeOf = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(treeOf)];
  return treeOf(root);
}
