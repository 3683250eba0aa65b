import type { Closed } from '../../history.js';
import type { Asked } from '../rule.js';

/** Event streams by their client, which opens one again when it is closed. */
export class Streams {
  /** The last n that each carried or resumed after. */
  readonly #last = new Map<string, number>();
  /** Since when each has carried everything, over its reconnects. */
  readonly #since = new Map<string, number>();
  /** The open ones, by member. */
  readonly #open = new Map<number, Set<string>>();

  asked({ client, after }: Asked<'stream'>): void {
    if (after !== undefined) {
      this.#last.set(client, after);
      return;
    }
    // It begins with what is stored from now on.
    this.#last.delete(client);
    this.#since.delete(client);
  }

  /** @param last the number that it begins after */
  answered({ client, member }: Asked<'stream'>, last: number | null, t: number): void {
    if (last !== null && !this.#last.has(client)) this.#last.set(client, last);
    if (!this.#since.has(client)) this.#since.set(client, t);
    this.#open.set(member, (this.#open.get(member) ?? new Set()).add(client));
  }

  closed({ client, door }: Closed): void {
    if (door !== 'stream') return;
    for (const clients of this.#open.values()) clients.delete(client);
  }

  lastOf(client: string): number | undefined {
    return this.#last.get(client);
  }

  advance(client: string, n: number): void {
    this.#last.set(client, Math.max(n, this.#last.get(client) ?? n));
  }

  /** Whether one of the member's that is open has carried everything that was stored from then on. */
  covers(member: number, t: number): boolean {
    const open = [...(this.#open.get(member) ?? [])];
    return open.some((client) => (this.#since.get(client) ?? Number.POSITIVE_INFINITY) < t);
  }
}
