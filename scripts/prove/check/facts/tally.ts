/** What a tally was when a read began. */
export interface Mark {
  sure: number;
  ended: number;
  gone: number;
}

/** How many there are of something that comes and goes, when requests are under way: so many for certain, so many perhaps. */
export class Tally {
  #sure = 0;
  #perhaps = 0;
  /** How often one was certain no more, and one was certainly gone. */
  #ended = 0;
  #gone = 0;

  mayCome(): void {
    this.#perhaps += 1;
  }

  came(): void {
    this.#sure += 1;
  }

  /** One of those that are certain may go. */
  mayGo(): void {
    this.#sure -= 1;
    this.#ended += 1;
  }

  went(): void {
    this.#perhaps -= 1;
    this.#gone += 1;
  }

  mark(): Mark {
    return { sure: this.#sure, ended: this.#ended, gone: this.#gone };
  }

  /** The least and the most that there were at any moment since then. */
  since({ sure, ended, gone }: Mark): [least: number, most: number] {
    return [sure - (this.#ended - ended), this.#perhaps + this.#gone - gone];
  }
}
