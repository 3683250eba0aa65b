import { readdirSync, readFileSync } from 'node:fs';

/**
 * CPU time a process has used so far, user and system, in µs, as the kernel counts it: the run time of
 * all its threads. (proc(5); `schedstat` counts nanoseconds where `stat` counts hundredths of a second)
 *
 * @throws Error when the process is gone
 */
export function cpuMicros(pid: number): number {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
    } catch (error) {
      // A thread of a pool that has ended between the listing and the look.
      if (
        (error as NodeJS.ErrnoException).code !== 'ENOENT' &&
        (error as NodeJS.ErrnoException).code !== 'ESRCH'
      )
        throw error;
    }
  }
  return total;
}

/** The same over several processes. */
export function cpuOfAll(pids: number[]): number {
  return pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
}

/**
 * Memory that a process alone holds, in bytes: its own pages, without those that mirror files, which the
 * kernel takes back when it needs them. (proc(5), smaps_rollup, Private_Dirty)
 */
export function privateBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Private_Dirty:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

/** Every process below one, itself included: nginx, for one, serves from a child. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch (error) {
      // It has ended since the listing.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  const found: number[] = [];
  const visit = (pid: number) => {
    found.push(pid);
    for (const child of children.get(pid) ?? []) visit(child);
  };
  visit(root);
  return found;
}
