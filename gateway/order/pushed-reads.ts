import type { ToldRead } from './sequencer-deps.js';

/**
 * Whose read positions in a room are pushed for certain, so that a position without its push was lost. Before the first one
 * it may have moved while nobody was in the room here; a message that is shown as read tells it, too, and then no push does.
 */
export class PushedReads {
  /** Members whose position the sockets were told, and senders with their last message that was shown as read: two each. */
  #told: number[] = [];
  #shown: { senderNo: number; seq: number }[] = [];

  /** The sockets were told a member's position. */
  noteRead(memberNo: number): void {
    if (!this.#told.includes(memberNo)) this.#told.push(memberNo);
  }

  /** The sockets were shown a message as read. */
  noteMessage(senderNo: number, seq: number): void {
    const shown = this.#shown.find((one) => one.senderNo === senderNo);
    if (shown) shown.seq = seq;
    else this.#shown.push({ senderNo, seq });
  }

  /** Whether the position of a member had to be pushed. */
  lacks({ memberNo, seq }: ToldRead): boolean {
    const isShown = this.#shown.some((shown) => shown.senderNo !== memberNo && shown.seq >= seq);
    return !isShown && this.#told.includes(memberNo);
  }

  /** Everybody has left the room. */
  clear(): void {
    this.#told = [];
    this.#shown = [];
  }
}
