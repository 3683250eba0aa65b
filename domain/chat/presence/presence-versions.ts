import { LRUCache } from 'lru-cache';

/** Most members in rooms whose latest version is remembered; one takes some 100 bytes. */
const MAX_REMEMBERED = 50_000;

/** The order of presence changes, as this process knows it. */
export interface PresenceVersions {
  /** A version above all that this process has given or heard. */
  next(): number;
  /** A version given elsewhere: what is given here next is above it. */
  note(version: number): void;
  /** Takes in a change that has arrived. @returns false when a later one of the same member has arrived already */
  accept(chatNo: number, memberNo: number, version: number): boolean;
}

export function createPresenceVersions(): PresenceVersions {
  const latest = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  let highest = 0;

  function note(version: number): void {
    highest = Math.max(highest, version);
  }

  return {
    next() {
      highest += 1;
      return highest;
    },
    note,
    accept(chatNo, memberNo, version) {
      note(version);
      const key = `${chatNo} ${memberNo}`;
      if (version < (latest.get(key) ?? 0)) return false;
      latest.set(key, version);
      return true;
    },
  };
}
