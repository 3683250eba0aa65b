import type { MessageRecord } from './message.model.js';
import { BOTH_SIDES, other, type Position, type RoomRecord, type Side, sideOf } from './room.model.js';
import { stateOf, unreadOf } from './room-states.js';
import { SentCounts } from './sent-counts.js';

/** The bookkeeping fields of a message. */
export type LedgerEntry = Pick<MessageRecord, '_id' | 'seq' | 'senderNo' | 'sent' | 'read'>;

/** The kinds of faults of a room. */
export const roomFaultKinds = [
  'message-number',
  'message-sender',
  'message-sent',
  'message-position',
  'message-others',
  'room-position',
  'room-others',
  'room-unread',
] as const;

/** A fault of a room, reported once per kind: later ones often follow from the first. */
export interface RoomFault {
  kind: (typeof roomFaultKinds)[number];
  text: string;
  found: number;
  /** undefined if the records do not tell. */
  expected: number | undefined;
}

/**
 * Checks the bookkeeping in each message of a room against the messages before it, and the room's read
 * positions against all of them.
 */
export class RoomAudit {
  readonly #room: RoomRecord;
  readonly #faults = new Map<string, { fault: RoomFault; more: number }>();
  readonly #counts = new SentCounts();
  #head: LedgerEntry | undefined;

  constructor(room: RoomRecord) {
    this.#room = room;
  }

  #note(kind: RoomFault['kind'], found: number, expected: number | undefined, text: string): void {
    const known = this.#faults.get(kind);
    if (known) known.more += 1;
    else {
      const fault = { kind, text: `room ${this.#room._id}: ${text}`, found, expected };
      this.#faults.set(kind, { fault, more: 0 });
    }
  }

  /** How many of a side's messages have numbers up to this one. */
  #sentUpTo(side: Side, seq: number): number {
    return this.#counts.first(this.#counts.countUpTo(seq))[side];
  }

  #checkPosition(of: 'message' | 'room', side: Side, { seq, others }: Position): void {
    const { newest } = this.#counts;
    const whose = of === 'message' ? 'a message' : 'the room';
    if (seq > newest || seq < 0) {
      const text = `${whose} has the ${side} reading up to ${seq}, but ${newest} is the newest`;
      this.#note(`${of}-position`, seq, newest, text);
      return;
    }
    const records = this.#sentUpTo(other(side), seq);
    if (others !== records) {
      const text = `${whose} has the ${side} reading ${others} messages of the other up to ${seq}, but there are ${records}`;
      this.#note(`${of}-others`, others, records, text);
    }
  }

  /** To be called with each message, in order of `seq`. */
  add(entry: LedgerEntry): void {
    const { seq, senderNo, sent, read } = entry;
    const last = this.#counts.newest;
    if (seq !== last + 1)
      this.#note('message-number', seq, last + 1, `message number ${seq} follows ${last}`);
    const sender = sideOf(this.#room, senderNo);
    if (!sender) {
      const text = `message ${seq} is by member ${senderNo}, who takes no part`;
      this.#note('message-sender', senderNo, undefined, text);
    }
    this.#counts.add(seq, sender);
    const records = this.#counts.all;
    for (const side of BOTH_SIDES) {
      if (sent[side] === records[side]) continue;
      const text = `message ${seq} has the ${side} sending ${sent[side]} messages so far, but there are ${records[side]}`;
      this.#note('message-sent', sent[side], records[side], text);
    }
    for (const side of BOTH_SIDES) this.#checkPosition('message', side, read[side]);
    this.#head = entry;
  }

  /** Checks the room's read positions and unread counts, once all messages are added. */
  finish(): RoomFault[] {
    for (const side of BOTH_SIDES) this.#checkPosition('room', side, this.#room.read[side]);
    // Unread counts need only the bookkeeping of the newest message.
    const state = stateOf(this.#room, this.#head as MessageRecord | undefined);
    for (const side of BOTH_SIDES) {
      const [says, all] = [unreadOf(state, side), this.#counts.all[other(side)]];
      const records = all - this.#sentUpTo(other(side), state.read[side].seq);
      if (says !== records) {
        const text = `the ${side}'s unread count is ${says}, but ${records} messages are unread`;
        this.#note('room-unread', says, records, text);
      }
    }
    return [...this.#faults.values()].map(({ fault, more }) =>
      more > 0 ? { ...fault, text: `${fault.text} (and ${more} more like it)` } : fault,
    );
  }
}
