/** The faults that a run may have, by the lane that they strike in: one of a lane at a time, lanes at the same time. */
export const lanes = {
  processes: ['kill', 'stop', 'freeze', 'clock', 'reload'],
  stores: ['database-stop', 'database-kill', 'disk-full'],
  connections: ['redis-cut', 'redis-stop', 'flush', 'evict', 'half-open', 'slow-reader'],
} as const;

export type FaultKind = (typeof lanes)[keyof typeof lanes][number];

export const faultKinds: FaultKind[] = Object.values(lanes).flat();

/** Those by which Redis loses keys and goes on: what was in them is there again at once, not only after a while. */
export const losingKeys: FaultKind[] = ['flush', 'evict'];
