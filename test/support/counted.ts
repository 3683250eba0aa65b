interface Value {
  value: number;
  labels: Partial<Record<string, string | number>>;
  /** Of a histogram: what it tells. */
  metricName?: string;
}

/** A metric of prom-client. */
interface Metric {
  get(): Promise<{ values: Value[] }>;
}

/** The value of a metric of this process with these labels, of a histogram how much it has counted; 0 where nothing was. */
export async function counted(metric: Metric, labels: Record<string, string | number> = {}): Promise<number> {
  const { values } = await metric.get();
  const wanted = Object.entries(labels);
  return values
    .filter(({ metricName = '_count' }) => metricName.endsWith('_count'))
    .filter(({ labels: has }) => wanted.every(([name, value]) => has[name] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
