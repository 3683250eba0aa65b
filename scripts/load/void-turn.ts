import type { Figures } from './metrics.js';

/** CPU of the busiest client process, % of a core, above which the clients limit rate and latency. */
const CLIENTS_TOO_BUSY = 90;

/** How late the clients sent (p99), as a share of the latency (p99), above which it is theirs. */
const CLIENTS_TOO_LATE = 0.5;

/** Up to this the clients are on time, ms: timers have a resolution of one. */
const ON_TIME = 2;

/** CPU of other programs, and stolen by the hypervisor, % of all cores, above which a turn shows the machine's state. */
const OTHERS_MOST = 10;
const STEAL_MOST = 5;

const percent = (value: number) => `${Math.round(value)} %`;

/** Why a turn's counts cannot be right, or are of nothing; undefined if they are. */
export function countFault({ delivered, lost = 0, refused = 0 }: Figures): string | undefined {
  if (lost < 0) return `${-lost} more delivered than sent`;
  return delivered === 0 && lost === 0 && refused === 0 ? 'nothing was published' : undefined;
}

/** Why the figures of a turn say nothing about the contender; undefined if they do. */
export function voidReason(turn: Figures): string | undefined {
  const fault = countFault(turn);
  if (fault !== undefined) return fault;
  const { clients = 0, others = 0, steal = 0, late = 0, p99 } = turn;
  if (clients > CLIENTS_TOO_BUSY) return `clients were the bottleneck (${percent(clients)} of a core)`;
  if (late > ON_TIME && p99 !== undefined && late > p99 * CLIENTS_TOO_LATE)
    return `clients sent late (p99 ${late.toFixed(1)} ms, of a latency of ${p99.toFixed(1)} ms)`;
  if (others > OTHERS_MOST) return `the machine was busy with other programs (${percent(others)})`;
  if (steal > STEAL_MOST) return `the hypervisor took CPU (${percent(steal)})`;
  return undefined;
}
