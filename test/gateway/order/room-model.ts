import type { RoomState } from '../../../domain/chat/room-states.js';
import type {
  MessagePayload,
  ReadPosition,
  RoomHead,
  RoomMark,
  RoomView,
} from '../../../domain/kernel/live.js';
import { roomState } from '../../support/chat.js';

export const CHAT = 7;
const CREATOR = 1;
const JOINER = 2;
export const BOTH = [CREATOR, JOINER];
export const partnerOf = (memberNo: number) => (memberNo === CREATOR ? JOINER : CREATOR);
export const sideOf = (memberNo: number) =>
  memberNo === CREATOR ? ('creator' as const) : ('joiner' as const);

/** A write of one process to the room. */
export interface Act {
  kind: 'send' | 'read';
  memberNo: number;
  /** Of a send: whether the recipient is present and reads it at once. */
  present: boolean;
  /** How many of the newest writes by others the writing process does not know. */
  behind: number;
}

/** What the process pushes about it. */
export type Push =
  | { event: 'message'; payload: MessagePayload }
  | { event: 'message:read'; position: ReadPosition }
  | { event: 'room'; memberNo: number; view: RoomView; mark: RoomMark };

/** A room in the database. */
export class Database {
  readonly messages: { seq: number; senderNo: number }[] = [];
  readonly reads = new Map(BOTH.map((memberNo) => [memberNo, 0]));
  readonly #history: { seq: number; reads: Map<number, number> }[] = [];

  sentBy = (memberNo: number, upTo = this.messages.length) =>
    this.messages.slice(0, upTo).filter(({ senderNo }) => senderNo === memberNo).length;

  position(memberNo: number, seq = this.reads.get(memberNo) as number): ReadPosition {
    return { memberNo, seq, others: this.sentBy(partnerOf(memberNo), seq) };
  }

  get head(): RoomHead {
    return {
      chatNo: CHAT,
      seq: this.messages.length,
      reads: BOTH.map((memberNo) => this.position(memberNo)),
    };
  }

  view(memberNo: number, seq = this.messages.length, read = this.reads.get(memberNo)) {
    const [sent, others] = [this.sentBy(partnerOf(memberNo), seq), this.position(memberNo, read).others];
    const latestMessage = { context: String(seq), sendAt: 0 };
    const view = { chatNo: CHAT, latestMessage, unReadCount: sent - others } as RoomView;
    return { view, mark: { seq, read: others } };
  }

  payload(seq: number): MessagePayload {
    const { senderNo } = this.messages[seq - 1] as { senderNo: number };
    const isRead = (this.reads.get(partnerOf(senderNo)) as number) >= seq;
    return { chatNo: CHAT, seq, senderNo, readCount: isRead ? 0 : 1, sendTime: 0 } as MessagePayload;
  }

  get state(): RoomState {
    const [creator, joiner] = BOTH.map((memberNo) => this.position(memberNo)) as [ReadPosition, ReadPosition];
    return roomState({
      chatNo: CHAT,
      creator: CREATOR,
      joiner: JOINER,
      seq: this.messages.length,
      sent: { creator: this.sentBy(CREATOR), joiner: this.sentBy(JOINER) },
      read: {
        creator: { seq: creator.seq, others: creator.others },
        joiner: { seq: joiner.seq, others: joiner.others },
      },
    });
  }

  /** Performs a write. @returns the pushes of its process, which may not know the newest writes of others */
  write({ kind, memberNo, present, behind }: Act): Push[] {
    const known = this.#history.at(-1 - behind) ?? { seq: 0, reads: new Map(BOTH.map((no) => [no, 0])) };
    const pushes: Push[] = [];
    let recipients = BOTH;
    let { seq } = known;
    const reads = new Map(known.reads);
    if (kind === 'send') {
      this.messages.push({ seq: this.messages.length + 1, senderNo: memberNo });
      // Its number was free, so it knew all messages before it.
      seq = this.messages.length;
      // A member in the room has read what was there when they joined.
      const recipient = partnerOf(memberNo);
      if (present && this.position(recipient).others === this.sentBy(memberNo, seq - 1)) {
        this.reads.set(recipient, seq);
        reads.set(recipient, seq);
      }
      pushes.push({ event: 'message', payload: this.payload(seq) });
    } else {
      if (seq <= (this.reads.get(memberNo) as number)) return [];
      this.reads.set(memberNo, seq);
      reads.set(memberNo, seq);
      recipients = [memberNo];
      pushes.push({ event: 'message:read', position: this.position(memberNo) });
    }
    for (const no of recipients)
      pushes.push({ event: 'room', memberNo: no, ...this.view(no, seq, reads.get(no)) });
    this.#history.push({ seq: this.messages.length, reads: new Map(this.reads) });
    return pushes;
  }
}

/** What an app shows: the room list of its connect, changed by the events since. */
export class Client {
  readonly shown: MessagePayload[] = [];
  readonly reads = new Map(BOTH.map((memberNo) => [memberNo, 0]));
  element: RoomView;
  #told = false;
  readonly faults: string[] = [];

  readonly memberNo: number;

  constructor(memberNo: number, database: Database) {
    this.memberNo = memberNo;
    this.element = database.view(memberNo).view;
  }

  room(view: RoomView): void {
    const [before, now] = [this.element, view].map(({ latestMessage }) => Number(latestMessage?.context));
    if ((now as number) < (before as number)) this.faults.push(`room back from ${before} to ${now}`);
    const { unReadCount } = this.element;
    if (this.#told && now === before && view.unReadCount >= unReadCount)
      this.faults.push(`room ${now} again`);
    this.#told = true;
    this.element = view;
  }

  message(payload: MessagePayload): void {
    if (payload.seq !== this.shown.length + 1) this.faults.push(`${payload.seq} behind ${this.shown.length}`);
    this.shown.push(payload);
  }

  read({ memberNo, seq }: Pick<ReadPosition, 'memberNo' | 'seq'>): void {
    if (seq > this.shown.length) this.faults.push(`read up to ${seq}, ahead of ${this.shown.length}`);
    if (seq <= (this.reads.get(memberNo) as number)) this.faults.push(`read back to ${seq}`);
    this.reads.set(memberNo, seq);
  }

  /** The numbers of the messages it shows as unread. */
  get unread(): number[] {
    return this.shown
      .filter(({ seq, senderNo, readCount }) => {
        return readCount > 0 && (this.reads.get(partnerOf(senderNo)) as number) < seq;
      })
      .map(({ seq }) => seq);
  }
}
