/** Bisections after doubling: what is found is at most an eighth below the first size that does not hold. */
const BISECTIONS = 3;

/** A trial of a size. */
export interface Trial {
  size: number;
  holds: boolean;
}

export interface Found<T extends Trial> {
  /** The largest trial that held; none if not even a size of one did. */
  held?: T;
  /** The smallest one that did not; none if the most held. */
  failed?: T;
}

/** A number of two digits is enough, and easier to read: a size between is no different. */
function twoDigits(size: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(size)) - 1);
  return Math.round(size / unit) * unit;
}

/**
 * Finds the largest size that holds: doubles, or halves if not even the first one holds, then bisects.
 * @param first size to try
 * @param most that this machine can try
 */
export async function findLargest<T extends Trial>(
  first: number,
  most: number,
  attempt: (size: number) => Promise<T>,
): Promise<Found<T>> {
  const found: Found<T> = {};
  async function tryOne(size: number): Promise<void> {
    const trial = await attempt(size);
    found[trial.holds ? 'held' : 'failed'] = trial;
  }
  for (let size = Math.min(first, most); !found.failed; size = Math.min(size * 2, most)) {
    await tryOne(size);
    if (size === most) break;
  }
  while (!found.held && found.failed && found.failed.size > 1) await tryOne(found.failed.size >> 1);
  for (let i = 0; i < BISECTIONS && found.held && found.failed; i += 1) {
    const middle = twoDigits((found.held.size + found.failed.size) / 2);
    if (middle <= found.held.size || middle >= found.failed.size) break;
    await tryOne(middle);
  }
  return found;
}
