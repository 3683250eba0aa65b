/** Share of a core, or of the whole machine, from which it is used up, %: the scheduler leaves no process all of it. */
const FULL = 90;

/** How late the clients sent (p99) from which they are the bottleneck, ms. */
const CLIENTS_LATE = 50;

/** Share of the machine's memory that must be left, %. */
const LEAST_MEMORY = 5;

/** What was used while a load was more than a server carries; shares in %. */
export interface Used {
  /** CPU of the server's and the database's processes by their names, of a core. */
  processes: [name: string, percent: number][];
  /** CPU of the busiest client process, of a core. */
  clients: number;
  /** How late the clients sent, p99, ms. */
  late?: number;
  /** CPU of all cores. */
  machine: number;
  /** Time in which the server's event loop was not waiting. */
  loop?: number;
  /** Memory of the machine that is left. */
  memoryLeft: number;
}

const percent = (value: number) => `${Math.round(value)} %`;

/** Names what a load ran into, with all that it used. */
export function wallOf({ processes, clients, late = 0, machine, loop, memoryLeft }: Used): string {
  const busiest = [...processes].sort(([, a], [, b]) => b - a)[0];
  const shares = [
    ...processes.map(([name, share]) => `${name} ${percent(share)}`),
    ...(loop === undefined ? [] : [`event loop ${percent(loop)}`]),
    `clients ${percent(clients)}`,
    `machine ${percent(machine)}`,
  ];
  const wall = () => {
    if (memoryLeft < LEAST_MEMORY) return `memory (${percent(memoryLeft)} of the machine's left)`;
    if (clients >= FULL) return 'CPU of the clients';
    if (busiest && busiest[1] >= FULL) return `CPU of ${busiest[0]}`;
    if (loop !== undefined && loop >= FULL) return 'event loop lag';
    if (machine >= FULL) return "the machine's CPU, shared with the clients";
    if (late >= CLIENTS_LATE) return `clients, that sent ${Math.round(late)} ms late`;
    return 'waiting: no process is busy';
  };
  return `${wall()} (${shares.join(', ')})`;
}
