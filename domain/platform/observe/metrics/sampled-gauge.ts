import { Gauge, type GaugeConfiguration } from 'prom-client';

/** What a part of the process holds at the moment. */
interface Source<L extends string> {
  labels: Partial<Record<L, string>>;
  read(): number;
}

/**
 * A gauge that is read when it is asked for: counting up and down on the way of every message would cost more. It has
 * no value where nothing is watched.
 */
export class SampledGauge<L extends string = never> extends Gauge<L> {
  readonly #sources = new Set<Source<L>>();

  constructor(config: GaugeConfiguration<L>) {
    super({ ...config, collect: () => this.#sample() });
  }

  /**
   * Adds what is read to the value with these labels.
   * @returns a function that ends it
   */
  watch(read: () => number, labels: Partial<Record<L, string>> = {}): () => void {
    const source = { labels, read };
    this.#sources.add(source);
    return () => void this.#sources.delete(source);
  }

  #sample(): void {
    this.reset();
    // Without labels a gauge begins at 0.
    this.remove({});
    for (const { labels, read } of this.#sources) this.inc(labels, read());
  }
}
