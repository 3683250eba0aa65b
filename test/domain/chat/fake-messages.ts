import { expect } from 'chai';
import { Ledger } from '../../../domain/chat/ledger.js';
import { Message, type MessageRecord } from '../../../domain/chat/message.model.js';
import type { RoomRecord } from '../../../domain/chat/room.model.js';
import { createRoomStates, stateOf } from '../../../domain/chat/room-states.js';
import { AppError } from '../../../domain/kernel/errors.js';

export const CREATOR = 1;
export const JOINER = 2;
const TAKEN = 11_000;
export const nobody = { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } };

const { insertMany } = Message.collection;

/** A ledger on a fake of the messages' collection, which has the unique index on (room, number). */
export class FakeMessages {
  /** What the database holds, by room. */
  readonly rooms = new Map<number, MessageRecord[]>();
  /** The numbers of records of all inserts. */
  inserts: number[] = [];
  /** In each room. */
  connections = 0;
  /** What happens before an insert is carried out. */
  before: (records: MessageRecord[]) => Promise<void> | void = () => {};
  readonly present = new Set<number>();
  readonly unknown: [chatNo: number, seq: number][] = [];

  readonly states = createRoomStates(async (chatNos) => {
    const room = { saleNo: 1, creator: CREATOR, joiner: JOINER, createdAt: new Date(0), read: nobody };
    const loaded = (no: number) => stateOf({ ...room, _id: no } as RoomRecord, this.held(no).at(-1));
    return new Map(chatNos.map((no) => [no, loaded(no)]));
  });

  readonly ledger = new Ledger({
    clock: { now: () => 0 },
    states: this.states,
    presence: { isPresent: async (_, memberNo) => this.present.has(memberNo) },
    live: { connectionsIn: () => this.connections },
    onUnknownOutcome: (...room) => this.unknown.push(room),
  });

  constructor() {
    Message.collection.insertMany = this.#insert as never;
  }

  /** Restores the collection. */
  end(): void {
    Message.collection.insertMany = insertMany;
  }

  held(chatNo: number): MessageRecord[] {
    return this.rooms.get(chatNo) ?? [];
  }

  hold(record: MessageRecord): void {
    const records = [...this.held(record.chatNo), record];
    this.rooms.set(
      record.chatNo,
      records.sort((a, b) => a.seq - b.seq),
    );
  }

  /** Another process stores a message under the number that a record was to have. */
  overtake(record: MessageRecord): void {
    const sent = { ...record.sent, creator: record.sent.creator + 1, joiner: record.sent.joiner - 1 };
    this.hold({ ...record, _id: 'theirs', senderNo: CREATOR, sent });
  }

  async send(chatNo: number, content = 'hello'): Promise<number> {
    const { record } = await this.ledger.append(chatNo, { side: 'joiner', contentType: 'text', content });
    return record.seq;
  }

  sends(count: number, chatNo = 1): Promise<number>[] {
    return Array.from({ length: count }, (_, i) => this.send(chatNo, `${i}`));
  }

  readonly #insert = async (records: MessageRecord[], { ordered }: { ordered: boolean }): Promise<void> => {
    this.inserts.push(records.length);
    await this.before(records);
    const writeErrors: { index: number; code: number }[] = [];
    for (const [index, record] of records.entries()) {
      if (ordered && writeErrors.length > 0) break;
      const isTaken = this.held(record.chatNo).some(({ seq }) => seq === record.seq);
      if (isTaken) writeErrors.push({ index, code: TAKEN });
      else this.hold(record);
    }
    if (writeErrors.length > 0) throw Object.assign(new Error('duplicate keys'), { writeErrors });
  };
}

/** The result of each, or why it failed. */
export async function outcomes(all: Promise<number>[]): Promise<unknown[]> {
  return (await Promise.allSettled(all)).map((one) => (one.status === 'fulfilled' ? one.value : one.reason));
}

export function expectUnavailable(error: unknown): void {
  expect(error).instanceOf(AppError).property('code', 'SERVICE_UNAVAILABLE');
}
