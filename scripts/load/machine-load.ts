import { readFileSync } from 'node:fs';
import { processTree, readIfAlive } from './process-figures.js';

/** CPU time of the machine so far, in ticks. (proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal) */
function machineTicks(): { total: number; busy: number; steal: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + irq + softirq;
  return { busy, steal, total: busy + idle + iowait + steal };
}

/** CPU time of this process and all that it started, ended ones included, in ticks. (proc_pid_stat(5), fields 14 to 17) */
function ownTicks(): number {
  return processTree(process.pid).reduce((total, pid) => {
    const stat = readIfAlive(`/proc/${pid}/stat`);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
    return total + fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  }, 0);
}

/** CPU time so far, in ticks: of the machine, and of it this process's and that of all that it started. */
export type MachineSample = ReturnType<typeof sampleMachine>;

export function sampleMachine() {
  return { ...machineTicks(), own: ownTicks() };
}

/** CPU of all programs, of other ones, and stolen by the hypervisor, between two samples, % of all cores. */
export function othersBetween(
  before: MachineSample,
  after: MachineSample,
): { busy: number; others: number; steal: number } {
  const total = Math.max(1, after.total - before.total);
  const others = after.busy - before.busy - (after.own - before.own);
  return {
    busy: ((after.busy - before.busy) / total) * 100,
    others: (Math.max(0, others) / total) * 100,
    steal: ((after.steal - before.steal) / total) * 100,
  };
}
