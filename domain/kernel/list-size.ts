/** Most bytes of JSON in the answer to one list. (contract, section 2) */
export const MAX_LIST_BYTES = 4 * 1024 * 1024;

/**
 * As many of the first items as fit into a list, at least one.
 *
 * @param max bytes of JSON
 * @param partOf what of an item counts
 */
export function fitting<T>(
  items: T[],
  max = MAX_LIST_BYTES,
  partOf: (item: T) => unknown = (item) => item,
): T[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(partOf(item)));
    return bytes > max;
  });
  return end < 0 ? items : items.slice(0, Math.max(1, end));
}

/** A text of at most so many UTF-16 code units, `…` at the end of one that was longer. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  // Never cut inside a surrogate pair.
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/**
 * The length, in UTF-16 code units, to which texts must be shortened to have at most `max` together: only the
 * longest are, and all of these alike.
 */
export function commonLength(lengths: number[], max: number): number {
  let left = max;
  const rising = lengths.toSorted((a, b) => a - b);
  for (const [i, length] of rising.entries()) {
    const share = Math.floor(left / (rising.length - i));
    if (length > share) return share;
    left -= length;
  }
  return max;
}
