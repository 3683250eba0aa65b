const NONE: ReadonlySet<number> = new Set();

/** Members by room whose arrival or departure Redis has not confirmed: the next refresh settles them. */
export class UnconfirmedMembers {
  readonly #members = new Map<number, Set<number>>();

  mark(chatNo: number, ...memberNos: number[]): void {
    if (memberNos.length === 0) return;
    this.#members.set(chatNo, new Set([...(this.#members.get(chatNo) ?? []), ...memberNos]));
  }

  /** @returns those of a room, which are no longer marked */
  take(chatNo: number): ReadonlySet<number> {
    const members = this.#members.get(chatNo);
    this.#members.delete(chatNo);
    return members ?? NONE;
  }

  has(chatNo: number): boolean {
    return this.#members.has(chatNo);
  }

  rooms(): Iterable<number> {
    return this.#members.keys();
  }
}
