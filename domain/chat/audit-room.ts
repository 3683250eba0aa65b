import type { MessageRecord } from './message.model.js';
import { BOTH_SIDES, other, type Position, type RoomRecord, type Side, sideOf } from './room.model.js';
import { stateOf, unreadOf } from './room-states.js';

/** The bookkeeping fields of a message. */
export type LedgerEntry = Pick<MessageRecord, '_id' | 'seq' | 'senderNo' | 'sent' | 'read'>;

/** A fault of a room, reported once per kind: later ones often follow from the first. */
export interface RoomFault {
  kind: string;
  text: string;
}

/** How many of these ascending numbers are at most this one. */
export function countUpTo(numbers: number[], most: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Checks the bookkeeping in each message of a room against the messages before it, and the room's read
 * positions against all of them.
 */
export class RoomAudit {
  readonly #room: RoomRecord;
  readonly #faults = new Map<string, { text: string; more: number }>();
  /** The numbers stored, and how many messages each side had sent by then; parallel lists. */
  readonly #seqs: number[] = [];
  readonly #sent: Record<Side, number[]> = { creator: [], joiner: [] };
  #head: LedgerEntry | undefined;

  constructor(room: RoomRecord) {
    this.#room = room;
  }

  #note(kind: string, text: string): void {
    const known = this.#faults.get(kind);
    if (known) known.more += 1;
    else this.#faults.set(kind, { text: `room ${this.#room._id}: ${text}`, more: 0 });
  }

  /** How many of a side's messages have numbers up to this one. */
  #sentUpTo(side: Side, seq: number): number {
    const count = countUpTo(this.#seqs, seq);
    return count === 0 ? 0 : (this.#sent[side][count - 1] as number);
  }

  #checkPosition(whose: string, side: Side, { seq, others }: Position, newest: number): void {
    if (seq > newest || seq < 0) {
      this.#note(
        `${whose} position`,
        `${whose} has the ${side} reading up to ${seq}, but ${newest} is the newest`,
      );
      return;
    }
    const records = this.#sentUpTo(other(side), seq);
    if (others !== records) {
      this.#note(
        `${whose} others`,
        `${whose} has the ${side} reading ${others} messages of the other up to ${seq}, but there are ${records}`,
      );
    }
  }

  /** To be called with each message, in order of `seq`. */
  add(entry: LedgerEntry): void {
    const last = this.#seqs.at(-1) ?? 0;
    if (entry.seq !== last + 1) this.#note('seq', `message number ${entry.seq} follows ${last}`);
    const sender = sideOf(this.#room, entry.senderNo);
    if (!sender)
      this.#note('sender', `message ${entry.seq} is by member ${entry.senderNo}, who takes no part`);
    this.#seqs.push(entry.seq);
    for (const side of BOTH_SIDES) {
      const records = (this.#sent[side].at(-1) ?? 0) + (side === sender ? 1 : 0);
      this.#sent[side].push(records);
      if (entry.sent[side] !== records) {
        this.#note(
          'sent',
          `message ${entry.seq} has the ${side} sending ${entry.sent[side]} messages so far, but there are ${records}`,
        );
      }
    }
    for (const side of BOTH_SIDES) this.#checkPosition('a message', side, entry.read[side], entry.seq);
    this.#head = entry;
  }

  /** Checks the room's read positions and unread counts, once all messages are added. */
  finish(): RoomFault[] {
    const newest = this.#seqs.at(-1) ?? 0;
    for (const side of BOTH_SIDES) this.#checkPosition('the room', side, this.#room.read[side], newest);
    // Unread counts need only the bookkeeping of the newest message.
    const state = stateOf(this.#room, this.#head as MessageRecord | undefined);
    for (const side of BOTH_SIDES) {
      const [says, all] = [unreadOf(state, side), this.#sent[other(side)].at(-1) ?? 0];
      const records = all - this.#sentUpTo(other(side), state.read[side].seq);
      if (says !== records) {
        this.#note('unread', `the ${side}'s unread count is ${says}, but ${records} messages are unread`);
      }
    }
    return [...this.#faults].map(([kind, { text, more }]) => ({
      kind,
      text: more > 0 ? `${text} (and ${more} more like it)` : text,
    }));
  }
}
