interface DeliveredRoom {
  /** Whether a connection was sent the full list: before that, connections know only `members`. */
  isListed: boolean;
  /** The connections know all changes up to this version. */
  asOf: number;
  /** Whether Redis's list as of then had all members with a connection here. */
  isSettled: boolean;
  /** The latest change of each member. */
  members: Map<number, { present: boolean; version: number }>;
}

/** A room of which the connections know nothing. */
const UNKNOWN = { isListed: false, asOf: 0, isSettled: false, members: new Map() } satisfies DeliveredRoom;

/** Rooms added between two scans for rooms to forget. */
const ROOMS_PER_SCAN = 1_000;

/** What this process's connections know about who is present in their rooms, and the order of changes. */
export class DeliveredPresence {
  readonly #isOpen: (chatNo: number) => boolean;
  readonly #rooms = new Map<number, DeliveredRoom>();
  #highestVersion = 0;
  #scanAt = ROOMS_PER_SCAN;

  /** @param isOpen whether connections of this process are in a room; other rooms are forgotten */
  constructor(isOpen: (chatNo: number) => boolean) {
    this.#isOpen = isOpen;
  }

  /** A version above all that this process has assigned or received. */
  nextVersion(): number {
    this.#highestVersion += 1;
    return this.#highestVersion;
  }

  /**
   * The highest version of a room that its connections know, 0 for none, and whether they know all changes up to it: if a push was
   * lost, they may know only later ones.
   */
  knownOf(chatNo: number): { version: number; isComplete: boolean } {
    const { asOf, isSettled, members } = this.#rooms.get(chatNo) ?? UNKNOWN;
    let version = asOf;
    for (const change of members.values()) version = Math.max(version, change.version);
    return { version, isComplete: isSettled && version === asOf };
  }

  /** Records a version that another process or Redis assigned. */
  noteVersion(version: number): void {
    this.#highestVersion = Math.max(this.#highestVersion, version);
  }

  /** A change has arrived. @returns false if the connections know it, or a later one of the member */
  accept(chatNo: number, memberNo: number, present: boolean, version: number): boolean {
    this.noteVersion(version);
    const { asOf, members } = this.#roomOf(chatNo);
    if (version <= Math.max(asOf, members.get(memberNo)?.version ?? 0)) return false;
    members.set(memberNo, { present, version });
    return true;
  }

  /** Forgets a room that no connection of this process was in. */
  forget(chatNo: number): void {
    this.#rooms.delete(chatNo);
  }

  /** A connection is sent the list of present members. */
  markListed(chatNo: number): void {
    this.#roomOf(chatNo).isListed = true;
  }

  isListed(chatNo: number): boolean {
    return this.#rooms.get(chatNo)?.isListed ?? false;
  }

  /** Numbers of the members present. */
  members(chatNo: number): number[] {
    const members = [...(this.#rooms.get(chatNo)?.members ?? [])];
    return members.filter(([, { present }]) => present).map(([memberNo]) => memberNo);
  }

  /** Whether the latest change of the member is that they left. */
  isGone(chatNo: number, memberNo: number): boolean {
    return this.#rooms.get(chatNo)?.members.get(memberNo)?.present === false;
  }

  /**
   * Applies the list of present members as of a version.
   * @param isSettled whether Redis has all members with a connection here: one may be about to enter there, another to be removed here
   * @returns the changes up to then that the connections do not know
   */
  reconcile(
    chatNo: number,
    present: ReadonlySet<number>,
    version: number,
    isSettled: boolean,
  ): [memberNo: number, present: boolean][] {
    this.noteVersion(version);
    const room = this.#roomOf(chatNo);
    room.isSettled = isSettled;
    room.asOf = Math.max(room.asOf, version);
    const changes: [number, boolean][] = [];
    for (const memberNo of new Set([...room.members.keys(), ...present])) {
      const latest = room.members.get(memberNo);
      const isPresent = present.has(memberNo);
      if ((latest?.version ?? 0) >= version || (latest?.present ?? false) === isPresent) continue;
      room.members.set(memberNo, { present: isPresent, version });
      if (latest || room.isListed) changes.push([memberNo, isPresent]);
    }
    return changes;
  }

  #roomOf(chatNo: number): DeliveredRoom {
    const known = this.#rooms.get(chatNo);
    if (known) return known;
    if (this.#rooms.size >= this.#scanAt) {
      for (const other of this.#rooms.keys()) if (!this.#isOpen(other)) this.#rooms.delete(other);
      this.#scanAt = this.#rooms.size + ROOMS_PER_SCAN;
    }
    const room: DeliveredRoom = { ...UNKNOWN, members: new Map() };
    this.#rooms.set(chatNo, room);
    return room;
  }
}
