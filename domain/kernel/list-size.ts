/** Most bytes of JSON in the answer to one list. (contract, section 2) */
export const MAX_LIST_BYTES = 4 * 1024 * 1024;

/**
 * At least as many bytes as a plain value has in JSON. To know that costs much less than to encode it.
 * @param value null or undefined, a string, number, boolean or date, or an array or object of these
 */
function mostBytes(value: unknown): number {
  // An escaped UTF-16 code unit (\u0000) has six bytes, no other has more.
  if (typeof value === 'string') return 6 * value.length + 3;
  // Numbers and dates have fewer than 32 bytes, and so have the brackets of an object.
  let bytes = 32;
  if (typeof value !== 'object') return bytes;
  for (const key in value) bytes += 6 * key.length + 4 + mostBytes((value as Record<string, unknown>)[key]);
  return bytes;
}

/**
 * As many of the first items as fit into a list, at least one.
 *
 * @param max bytes of JSON
 * @param partOf what of an item counts: a plain value, as of `mostBytes`
 */
export function fitting<T>(
  items: T[],
  max = MAX_LIST_BYTES,
  partOf: (item: T) => unknown = (item) => item,
): T[] {
  let most = 0;
  for (const item of items) {
    most += mostBytes(partOf(item));
    if (most > max) return firstThatFit(items, max, partOf);
  }
  return items;
}

/** The same by the exact size of each. */
function firstThatFit<T>(items: T[], max: number, partOf: (item: T) => unknown): T[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(partOf(item)));
    return bytes > max;
  });
  return end < 0 ? items : items.slice(0, Math.max(1, end));
}

/**
 * The length, in code points, to which texts must be shortened to have at most `max` together: only the
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
