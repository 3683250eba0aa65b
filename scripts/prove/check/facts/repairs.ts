/** What a service has mended, as a verdict names it, and the metric in which it counts that (docs/metrics.md). */
const METRICS = [
  ['messages pushed in vain', /^adoption_lost_pushes_total\{what="message"\}/],
  ['read positions pushed in vain', /^adoption_lost_pushes_total\{what="read"\}/],
  ['presence pushed in vain', /^adoption_lost_pushes_total\{what="presence"\}/],
  ['rooms pushed in vain', /^adoption_lost_pushes_total\{what="room"\}/],
  ['notifications pushed in vain', /^adoption_lost_pushes_total\{what="notification"\}/],
  ['presence that expired', /^adoption_presence_expired_total/],
  ['messages read before their push', /^adoption_chat_gaps_filled_total/],
  ['notifications polled before their push', /^adoption_notifications_polled_total/],
  [
    'notifications read by streams before their push',
    /^adoption_event_stream_notifications_total\{source="gap"\}/,
  ],
  ['drift mended by sweeps', /^adoption_drift_mended_total/],
] as const satisfies [name: string, metric: RegExp][];

export type Repair = (typeof METRICS)[number][0];

/** What only a loss causes: a stalled process and a race of two cause the others, too (domain/platform/observe/lost-pushes.ts). */
export const LOSSES: readonly Repair[] = [
  'messages pushed in vain',
  'read positions pushed in vain',
  'rooms pushed in vain',
  'notifications pushed in vain',
  'presence that expired',
];

/** What the processes of a run have mended, by their own counts. */
export class Repairs {
  readonly counts = new Map<Repair, number>(METRICS.map(([name]) => [name, 0]));

  /** @param counts of one process since its start */
  add(counts: Record<string, number>): void {
    for (const [metric, count] of Object.entries(counts)) {
      for (const [name, pattern] of METRICS)
        if (pattern.test(metric)) this.counts.set(name, (this.counts.get(name) ?? 0) + count);
    }
  }

  /** What was certainly lost. */
  get losses(): number {
    return LOSSES.reduce((sum, name) => sum + (this.counts.get(name) ?? 0), 0);
  }
}
