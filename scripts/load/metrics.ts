/** Everything that a run may measure. */
export const metrics = {
  cpu: { label: 'CPU µs', title: 'server CPU (user + system) per delivery or request, µs', digits: 2 },
  databaseCpu: {
    label: 'db CPU µs',
    title: 'CPU of the database process per delivery or request, µs',
    digits: 1,
  },
  bystanderCpu: {
    label: 'bystander µs',
    title: 'CPU of a gateway without members of the room, µs per message',
    digits: 2,
  },
  delivered: { label: 'delivered', title: 'deliveries or answers that arrived', digits: 0 },
  lost: { label: 'lost', title: 'expected deliveries or answers that did not arrive', digits: 0 },
  refused: {
    label: 'refused',
    title: 'requests or messages that the server refused for the time being',
    digits: 0,
  },
  perSecond: { label: 'per s', title: 'deliveries or answers per second', digits: 0 },
  p50: { label: 'p50 ms', title: 'latency, ms', digits: 2 },
  p99: { label: 'p99 ms', title: 'latency, ms', digits: 2 },
  p999: { label: 'p99.9 ms', title: 'latency, ms', digits: 2 },
  late: {
    label: 'late ms',
    title: 'p99 of how late the clients sent, ms; latency counts from when it was due',
    digits: 2,
  },
  memory: { label: 'KiB each', title: 'private memory of the server per connection, KiB', digits: 1 },
  memoryTotal: { label: 'MiB', title: 'private memory of the process, MiB', digits: 0 },
  handles: { label: 'files', title: 'open files and sockets of the process', digits: 0 },
  duration: { label: 'took s', title: 'seconds until the last one was done', digits: 2 },
  clients: { label: 'clients %', title: 'CPU of the busiest client process, % of a core', digits: 0 },
} as const;

export type Metric = keyof typeof metrics;

export const isMetric = (name: string): name is Metric => name in metrics;

/** Columns of scenarios that measure a flow of messages; tables omit those without figures. */
export const flowColumns: Metric[] = [
  'cpu',
  'bystanderCpu',
  'delivered',
  'lost',
  'perSecond',
  'p50',
  'p99',
  'p999',
  'memory',
  'databaseCpu',
  'clients',
];

/** What one run of a contender measured. */
export type Figures = Partial<Record<Metric, number>>;

/** CPU of the busiest client process, % of a core, above which the clients limit rate and latency. */
export const CLIENTS_TOO_BUSY = 90;

/** How late the clients sent (p99), as a share of the latency (p99), above which it is theirs. */
export const CLIENTS_TOO_LATE = 0.5;
