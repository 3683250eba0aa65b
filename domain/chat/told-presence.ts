/** What the connections of a process were told of one room. */
interface ToldRoom {
  /** Whether somebody was answered who is present: before that nobody here knows more than what is in `members`. */
  isListed: boolean;
  /** Changes up to this version are known, heard or not. */
  asOf: number;
  /** The latest change of each member since, or before. */
  members: Map<number, { present: boolean; version: number }>;
}

/** Who is present in their rooms, as the connections of this process were told, and the order of the changes. */
export interface ToldPresence {
  /** A version above all that this process has given or heard. */
  next(): number;
  /** A version given elsewhere: what is given here next is above it. */
  note(version: number): void;
  /** Takes in a change that has arrived. @returns false when it is known, or a later one of the same member is */
  accept(chatNo: number, memberNo: number, present: boolean, version: number): boolean;
  /** Forgets a room: nobody here was in it. */
  forget(chatNo: number): void;
  /** The first of those here is answered who is present. */
  list(chatNo: number): void;
  isListed(chatNo: number): boolean;
  /** Numbers of those who are present. */
  members(chatNo: number): number[];
  /**
   * Takes in who was present as of a version.
   * @returns the changes up to then that were not told
   */
  correct(
    chatNo: number,
    present: ReadonlySet<number>,
    version: number,
  ): [memberNo: number, present: boolean][];
}

/** Rooms between two looks for those that nobody here is in any more. */
const ROOMS_PER_LOOK = 1_000;

/** @param isOpen whether connections of this process are in a room; others are forgotten */
export function createToldPresence(isOpen: (chatNo: number) => boolean): ToldPresence {
  const rooms = new Map<number, ToldRoom>();
  let highest = 0;
  let lookAt = ROOMS_PER_LOOK;

  function note(version: number): void {
    highest = Math.max(highest, version);
  }

  function toldOf(chatNo: number): ToldRoom {
    const known = rooms.get(chatNo);
    if (known) return known;
    if (rooms.size >= lookAt) {
      for (const room of rooms.keys()) if (!isOpen(room)) rooms.delete(room);
      lookAt = rooms.size + ROOMS_PER_LOOK;
    }
    const room: ToldRoom = { isListed: false, asOf: 0, members: new Map() };
    rooms.set(chatNo, room);
    return room;
  }

  return {
    next() {
      highest += 1;
      return highest;
    },
    note,
    accept(chatNo, memberNo, present, version) {
      note(version);
      const { asOf, members } = toldOf(chatNo);
      if (version <= Math.max(asOf, members.get(memberNo)?.version ?? 0)) return false;
      members.set(memberNo, { present, version });
      return true;
    },
    forget: (chatNo) => void rooms.delete(chatNo),
    list(chatNo) {
      toldOf(chatNo).isListed = true;
    },
    isListed: (chatNo) => rooms.get(chatNo)?.isListed ?? false,
    members(chatNo) {
      const members = [...(rooms.get(chatNo)?.members ?? [])];
      return members.filter(([, { present }]) => present).map(([memberNo]) => memberNo);
    },
    correct(chatNo, present, version) {
      note(version);
      const room = toldOf(chatNo);
      room.asOf = Math.max(room.asOf, version);
      const changes: [number, boolean][] = [];
      for (const memberNo of new Set([...room.members.keys(), ...present])) {
        const told = room.members.get(memberNo);
        const isPresent = present.has(memberNo);
        if ((told?.version ?? 0) >= version || (told?.present ?? false) === isPresent) continue;
        room.members.set(memberNo, { present: isPresent, version });
        if (told || room.isListed) changes.push([memberNo, isPresent]);
      }
      return changes;
    },
  };
}
