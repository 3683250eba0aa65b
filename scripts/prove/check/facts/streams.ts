import type { Closed } from '../../history.js';
import type { Asked } from '../rule.js';

/** Event streams by their client, which opens one again when it is closed. */
export class Streams {
  /** The last n that each carried or resumed after. */
  readonly #last = new Map<string, number>();
  /** The open ones, by member. */
  readonly #open = new Map<number, Set<string>>();

  asked({ client, after }: Asked<'stream'>): void {
    if (after === undefined) this.#last.delete(client);
    else this.#last.set(client, after);
  }

  answered({ client, member }: Asked<'stream'>): void {
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

  /** Whether one of the member's is open. */
  isOpen(member: number): boolean {
    return (this.#open.get(member)?.size ?? 0) > 0;
  }
}
