interface MetricForm {
  /** Column title. */
  label: string;
  title: string;
  unit: string;
  digits: number;
  /** Whether a higher figure is worse or better; neither for counts that only describe the load. */
  better?: 'lower' | 'higher';
  /** Share by which medians of two runs of the same build may differ, measured (docs/performance.md); 5 % without it. */
  varies?: number;
}

/** Everything that a run may measure. */
const forms = {
  share: {
    ...{ label: 'share %', title: 'share of the messages that a client ends up with, of all clients, %' },
    ...{ unit: '%', digits: 2, better: 'higher' },
  },
  leastShare: {
    ...{ label: 'least %', title: 'share of the messages that the client with the fewest ends up with, %' },
    ...{ unit: '%', digits: 2, better: 'higher' },
  },
  cpu: {
    ...{ label: 'CPU µs', title: 'server CPU (user + system) per delivery or request, µs' },
    ...{ unit: 'µs', digits: 2, better: 'lower', varies: 0.2 },
  },
  databaseCpu: {
    ...{ label: 'db CPU µs', title: 'CPU of the database process per delivery or request, µs' },
    ...{ unit: 'µs', digits: 1, better: 'lower', varies: 0.3 },
  },
  bystanderCpu: {
    ...{ label: 'bystander µs', title: 'CPU of a gateway without members of the room, µs per message' },
    ...{ unit: 'µs', digits: 2, better: 'lower', varies: 0.2 },
  },
  cores: {
    ...{ label: 'cores %', title: 'CPU of all server processes, % of a core' },
    ...{ unit: '%', digits: 2, better: 'lower', varies: 0.2 },
  },
  databaseCores: {
    ...{ label: 'db cores %', title: 'CPU of the database process, % of a core' },
    ...{ unit: '%', digits: 2, better: 'lower', varies: 0.3 },
  },
  reads: {
    ...{ label: 'reads per s', title: 'queries that all server processes send to the database, per second' },
    ...{ unit: '1/s', digits: 2, better: 'lower' },
  },
  delivered: { label: 'delivered', title: 'deliveries or answers that arrived', unit: '1', digits: 0 },
  lost: {
    ...{ label: 'lost', title: 'expected deliveries or answers that did not arrive' },
    ...{ unit: '1', digits: 0, better: 'lower' },
  },
  refused: {
    ...{ label: 'refused', title: 'requests or messages that the server refused for the time being' },
    ...{ unit: '1', digits: 0 },
  },
  repeated: {
    ...{ label: 'repeated', title: 'connects and joins that the server refused for the time being' },
    ...{ unit: '1', digits: 0, better: 'lower' },
  },
  perSecond: {
    ...{ label: 'per s', title: 'deliveries or answers per second' },
    ...{ unit: '1/s', digits: 0, better: 'higher', varies: 0.2 },
  },
  served: { label: 'served/s', title: 'answers per second of an offered load', unit: '1/s', digits: 0 },
  p50: { label: 'p50 ms', title: 'latency, ms', unit: 'ms', digits: 2, better: 'lower', varies: 0.5 },
  p99: { label: 'p99 ms', title: 'latency, ms', unit: 'ms', digits: 2, better: 'lower', varies: 0.5 },
  p999: { label: 'p99.9 ms', title: 'latency, ms', unit: 'ms', digits: 2, better: 'lower', varies: 0.5 },
  late: {
    ...{
      label: 'late ms',
      title: 'p99 of how late the clients sent, ms; latency counts from when it was due',
    },
    ...{ unit: 'ms', digits: 2 },
  },
  memory: {
    ...{ label: 'KiB each', title: 'private memory of the server per connection, KiB' },
    ...{ unit: 'KiB', digits: 1, better: 'lower', varies: 0.2 },
  },
  resident: {
    ...{ label: 'RSS KiB each', title: 'resident memory of the server per connection, KiB' },
    ...{ unit: 'KiB', digits: 1, better: 'lower' },
  },
  memoryTotal: {
    ...{ label: 'MiB', title: 'private memory of the process, MiB' },
    ...{ unit: 'MiB', digits: 0, better: 'lower' },
  },
  handles: {
    ...{ label: 'files', title: 'open files and sockets of the process' },
    ...{ unit: '1', digits: 0, better: 'lower' },
  },
  duration: {
    ...{ label: 'took s', title: 'seconds until the last one was done' },
    ...{ unit: 's', digits: 2, better: 'lower', varies: 0.2 },
  },
  afterEnd: {
    ...{ label: 'after end', title: 'deliveries or answers that came after the last message was due' },
    ...{ unit: '1', digits: 0 },
  },
  reference: {
    ...{ label: 'reference ms', title: 'CPU of a fixed piece of work just before, ms' },
    ...{ unit: 'ms', digits: 2 },
  },
  others: {
    ...{ label: 'others %', title: 'CPU of other programs meanwhile, % of the machine' },
    ...{ unit: '%', digits: 0 },
  },
  steal: {
    ...{ label: 'steal %', title: 'CPU that the hypervisor took meanwhile, % of the machine' },
    ...{ unit: '%', digits: 0 },
  },
  clients: {
    ...{ label: 'clients %', title: 'CPU of the busiest client process, % of a core' },
    ...{ unit: '%', digits: 0 },
  },
} as const satisfies Record<string, MetricForm>;

export type Metric = keyof typeof forms;

export const metrics: Record<Metric, MetricForm> = forms;

export const isLatency = (metric: Metric) => metric === 'p50' || metric === 'p99' || metric === 'p999';

/** Whether a figure is CPU time, which a slower machine raises as it does that of any other work. */
export const isCpu = (metric: Metric) => metrics[metric].unit === 'µs';

/** Figures that a busy machine or slow clients do not change: memory and files in use, queries of an idle installation. */
const untimed: Metric[] = ['memory', 'resident', 'memoryTotal', 'handles', 'reads'];

export const isTimed = (metric: Metric) => !untimed.includes(metric);

export const isMetric = (name: string): name is Metric => name in metrics;

/** Columns of scenarios that measure a flow of messages; tables omit those without figures. */
export const flowColumns: Metric[] = [
  'cpu',
  'bystanderCpu',
  'delivered',
  'refused',
  'repeated',
  'lost',
  'afterEnd',
  'perSecond',
  'p50',
  'p99',
  'p999',
  'late',
  'memory',
  'databaseCpu',
  'clients',
];

/** What one run of a contender measured. */
export type Figures = Partial<Record<Metric, number>>;
