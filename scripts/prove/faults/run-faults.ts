import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultKind, lanes, losingKeys } from './kinds.js';
import { type Struck, strikes } from './strike.js';

/** Pause between two faults of a lane, as a share of the longest time of a fault: what was struck recovers in between. */
const PAUSE = [0.3, 1.2] as const;

/** How often a lane strikes at most until each of its faults has met something: in a small run one may meet nothing. */
const ROUNDS = 4;

/** In another order each time. */
function shuffled<T>(list: T[], below: (limit: number) => number): T[] {
  const rest = [...list];
  return list.map(() => rest.splice(below(rest.length), 1)[0] as T);
}

/**
 * Strikes with faults until `isOver`, and with each kind once at least, some times more if it meets nothing. Resolves when all that
 * was struck works again.
 * @param randomOf random numbers of a lane
 * @param hasMet whether a kind has met what it could hurt, or need not
 * @throws Error if a process does not come back
 */
export async function runFaults(
  kinds: FaultKind[],
  struck: Omit<Struck, 'below' | 'isFirst' | 'isCalm'>,
  randomOf: (lane: string) => (limit: number) => number,
  isOver: () => boolean,
  hasMet: (kind: FaultKind) => boolean,
): Promise<void> {
  const isCalm = kinds.every((kind) => losingKeys.includes(kind));
  await Promise.all(
    Object.entries(lanes).map(async ([lane, all]) => {
      const chosen = all.filter((kind) => kinds.includes(kind));
      const below = randomOf(lane);
      const isDue = (kind: FaultKind, round: number) =>
        round === 0 || !isOver() || (round < ROUNDS && !hasMet(kind));
      for (let round = 0; chosen.some((kind) => isDue(kind, round)); round += 1) {
        for (const kind of shuffled(chosen, below)) {
          if (!isDue(kind, round)) continue;
          const [least, most] = PAUSE.map((share) => Math.ceil(share * struck.longestMs)) as [number, number];
          await sleep(least + below(most - least));
          await strikes[kind]({ ...struck, below, isFirst: round === 0, isCalm });
        }
      }
    }),
  );
}
