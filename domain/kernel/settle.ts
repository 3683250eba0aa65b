import { setTimeout as wait } from 'node:timers/promises';

/** Longer than any write takes from its record to the count that follows it, in ms. */
const SETTLED_AFTER_MS = 300;

/**
 * Tells a disagreement from a write that is under way: of those seen at a first look, the ones that a
 * second look finds unchanged.
 *
 * @param seen by what they are about: what disagrees, in one comparable text
 * @param lookAgain looks at those once more
 */
export async function settled<K>(
  seen: Map<K, string>,
  lookAgain: (about: K[]) => Promise<Map<K, string>>,
): Promise<Map<K, string>> {
  if (seen.size === 0) return seen;
  await wait(SETTLED_AFTER_MS);
  const again = await lookAgain([...seen.keys()]);
  return new Map([...seen].filter(([about, text]) => again.get(about) === text));
}
