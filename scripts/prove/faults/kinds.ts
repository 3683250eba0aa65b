/** The faults that a run may have, by the lane that they strike in: one of a lane at a time, lanes at the same time. */
export const lanes = {
  processes: ['kill', 'stop', 'freeze', 'clock', 'reload'],
  stores: ['database-stop', 'database-kill', 'disk-full'],
  connections: ['redis-cut', 'redis-stop', 'half-open', 'slow-reader'],
} as const;

export type FaultKind = (typeof lanes)[keyof typeof lanes][number];

export const faultKinds: FaultKind[] = Object.values(lanes).flat();
