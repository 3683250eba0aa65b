import { setTimeout as wait } from 'node:timers/promises';

/** Pause before the second check, ms: longer than a write takes from its record to its count. */
const SETTLED_AFTER_MS = 300;

/**
 * Separates contradictions from writes in progress by a second check.
 *
 * @param seen contradictions by subject; `proof` says what was read, and is another after any change
 * @param checkAgain repeats the check for these subjects
 * @returns those that are unchanged
 */
export async function settled<K, V extends { proof: string }>(
  seen: Map<K, V>,
  checkAgain: (subjects: K[]) => Promise<Map<K, V>>,
): Promise<Map<K, V>> {
  if (seen.size === 0) return seen;
  await wait(SETTLED_AFTER_MS);
  const again = await checkAgain([...seen.keys()]);
  return new Map([...seen].filter(([subject, { proof }]) => again.get(subject)?.proof === proof));
}
