/** A counter or gauge of prom-client. */
interface Metric {
  get(): Promise<{ values: { value: number; labels: Partial<Record<string, string | number>> }[] }>;
}

/** The value of a metric of this process; 0 where nothing was counted yet. */
export async function counted(metric: Metric, labels: Record<string, string | number> = {}): Promise<number> {
  const { values } = await metric.get();
  const wanted = Object.entries(labels);
  return values.find((one) => wanted.every(([name, value]) => one.labels[name] === value))?.value ?? 0;
}
