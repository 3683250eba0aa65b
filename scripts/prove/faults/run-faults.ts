import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultKind, lanes, losingKeys } from './kinds.js';
import { type Struck, strikes } from './strike.js';

/** Pause between two faults of a lane, as a share of the longest time of a fault: what was struck recovers in between. */
const PAUSE = [0.3, 1.2] as const;

/** In another order each time. */
function shuffled<T>(list: T[], below: (limit: number) => number): T[] {
  const rest = [...list];
  return list.map(() => rest.splice(below(rest.length), 1)[0] as T);
}

/**
 * Strikes with faults until `isOver`, and with each kind once at least. Resolves when all that was struck works again.
 * @param randomOf random numbers of a lane
 * @throws Error if a process does not come back
 */
export async function runFaults(
  kinds: FaultKind[],
  struck: Omit<Struck, 'below' | 'isFirst' | 'isCalm'>,
  randomOf: (lane: string) => (limit: number) => number,
  isOver: () => boolean,
): Promise<void> {
  const isCalm = kinds.every((kind) => losingKeys.includes(kind));
  await Promise.all(
    Object.entries(lanes).map(async ([lane, all]) => {
      const chosen = all.filter((kind) => kinds.includes(kind));
      const below = randomOf(lane);
      for (let round = 0; chosen.length > 0 && (round === 0 || !isOver()); round += 1) {
        for (const kind of shuffled(chosen, below)) {
          if (round > 0 && isOver()) break;
          const [least, most] = PAUSE.map((share) => Math.ceil(share * struck.longestMs)) as [number, number];
          await sleep(least + below(most - least));
          await strikes[kind]({ ...struck, below, isFirst: round === 0, isCalm });
        }
      }
    }),
  );
}
