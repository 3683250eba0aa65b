import { AppError } from '../../domain/kernel/errors.js';
import type { RoomHead, RoomMark, RoomView } from '../../domain/kernel/live.js';
import { memberRoom } from '../../domain/kernel/socket-rooms.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import { lostPushes, SUBSCRIBED_MS } from '../../domain/platform/observe/lost-pushes.js';

export interface RoomViewsDeps {
  /** A room as a participant sees it, from the database. */
  read(chatNo: number, memberNo: number): Promise<{ view: RoomView; mark: RoomMark }>;
  /** The numbers of all rooms of these members. */
  headsOf(memberNos: number[]): Promise<RoomHead[]>;
  /** Whether a socket of this process is the member's. */
  isConnected(memberNo: number): boolean;
  /** The members with a socket in this process. */
  connected(): number[];
  /** Sends a room's state to the member's sockets in this process. */
  emit(memberNo: number, view: RoomView): void;
  /** Whether other processes send states, too; a single process sends them in order, and in intervals. */
  shared: boolean;
  /** Shortest time, ms, between two states of a room to a member. */
  intervalMs: number;
  logger: Logger;
}

/** A state that waits for the end of an interval. */
interface Held {
  deliver: () => void;
  timer: NodeJS.Timeout;
}

/** What is known of a room's state at a member's sockets. */
interface Sent {
  /** Since when something is known, by performance.now(). */
  since: number;
  /** Undefined while unknown. */
  mark: RoomMark | undefined;
  /** False while `mark` is only what the member's own list should show. */
  isDelivered: boolean;
  /** Whether a comparison has found that the sockets lack a state. */
  isLacking: boolean;
  /** Whether the room is being read for them. */
  isReading: boolean;
  /** Whether it must be read again, because a push arrived during the read. */
  readAgain: boolean;
  /** When a state was last delivered, by performance.now(). */
  deliveredAt: number;
  held: Held | undefined;
}

/** How much sooner than an interval, ms, a state may come: those of one process are sent in intervals, and Redis takes more or less time. */
const JITTER_MS = 10;

/** Time until a failed read is repeated, ms. */
const AFTER_FAILURE_MS = 1_000;

/** Rooms read at a time because of announcements that anybody may have made. */
const MAX_CHECKS = 100;

/** Members per query of heads. */
const MEMBERS_AT_ONCE = 100;

/** Rooms read at a time when all rooms of members are compared: after an outage nothing is known of most. */
const ROOMS_AT_ONCE = 100;

/** Whether a mark has a higher number than another; every mark is ahead of an unknown one. */
function isAhead(mark: RoomMark, of: RoomMark | undefined): boolean {
  return !of || mark.seq > of.seq || mark.read > of.read;
}

/** Whether the member's sockets lack a state: an equal one passes once, as the list may have been read before it. */
function isNew(mark: RoomMark, { mark: last, isDelivered }: Sent): boolean {
  return isAhead(mark, last) || (!isDelivered && !isAhead(last as RoomMark, mark));
}

/** A state as of more messages of the other party being read than its sender knew. */
function withRead(view: RoomView, mark: RoomMark, read: number): RoomView {
  return { ...view, unReadCount: view.unReadCount + mark.read - read };
}

/**
 * Delivers the states of members' rooms (`room` events) to their sockets in this process, whichever process
 * sends them, in whatever order. A state that is not ahead is dropped. One that is ahead in one number and behind in
 * the other, because its sender does not know what another process wrote, is merged: with more messages it lacks only
 * what was read, and with more read, the messages, for which it is read from the database. So the last state delivered
 * has the highest numbers of all. Each process sends the states of a room in intervals; one that comes sooner, of another
 * process, is held until the interval is over.
 */
export class RoomViews {
  readonly #deps: RoomViewsDeps;
  /** Member → room. */
  readonly #members = new Map<number, Map<number, Sent>>();
  #checks = 0;

  constructor(deps: RoomViewsDeps) {
    this.#deps = deps;
  }

  /** A participant is about to enter the room: from here on, comparing finds lost pushes. */
  follow({ chatNo, seq, reads }: RoomHead): void {
    for (const { memberNo, others } of reads) {
      if (this.#deps.isConnected(memberNo)) this.#sent(memberNo, chatNo).mark ??= { seq, read: others };
    }
  }

  /** The member's last socket has closed. */
  forget(memberNo: number): void {
    for (const { held } of this.#members.get(memberNo)?.values() ?? []) clearTimeout(held?.timer);
    this.#members.delete(memberNo);
    lostPushes.forget(memberRoom(memberNo));
  }

  /** A state has arrived; `deliver` passes it on. */
  offer(memberNo: number, view: RoomView, mark: RoomMark, deliver: (view: RoomView) => void): void {
    const { isConnected, shared } = this.#deps;
    if (!isConnected(memberNo)) return;
    lostPushes.came('room', memberRoom(memberNo), view.chatNo, { ...mark });
    const sent = this.#sent(memberNo, view.chatNo);
    const last = sent.mark;
    if (!isNew(mark, sent)) return;
    // What is being read may be what has come.
    sent.isLacking = false;
    if (sent.isReading || (last ? mark.seq < last.seq : shared)) {
      void this.#refresh(memberNo, view.chatNo, sent);
      return;
    }
    const read = Math.max(mark.read, last?.read ?? 0);
    sent.mark = { seq: mark.seq, read };
    sent.isDelivered = true;
    this.#deliver(sent, () => deliver(read === mark.read ? view : withRead(view, mark, read)));
  }

  /** A state may have changed. @returns false if too many are being read: then all rooms of the member are to be compared */
  check(memberNo: number, chatNo: number): boolean {
    if (!this.#deps.isConnected(memberNo)) return true;
    if (this.#checks >= MAX_CHECKS) return false;
    this.#checks += 1;
    void this.#refresh(memberNo, chatNo, this.#sent(memberNo, chatNo)).finally(() => {
      this.#checks -= 1;
    });
    return true;
  }

  /** Compares a room with its numbers in the database, for the members whose state is known. */
  compare(head: RoomHead): void {
    void this.#compare(head, false);
  }

  /** Compares all rooms of members, by default of all here: pushes to any of them may have been lost. */
  async compareAll(memberNos = this.#deps.connected()): Promise<void> {
    for (let i = 0; i < memberNos.length; i += MEMBERS_AT_ONCE) {
      const heads = await this.#deps.headsOf(memberNos.slice(i, i + MEMBERS_AT_ONCE));
      for (let from = 0; from < heads.length; from += ROOMS_AT_ONCE) {
        await Promise.all(heads.slice(from, from + ROOMS_AT_ONCE).map((head) => this.#compare(head, true)));
      }
    }
  }

  async #compare({ chatNo, seq, reads }: RoomHead, evenUnknown: boolean): Promise<void> {
    await Promise.all(
      reads.map(async ({ memberNo, others }) => {
        if (!this.#deps.isConnected(memberNo)) return;
        const sent = this.#members.get(memberNo)?.get(chatNo);
        if (!sent?.mark && !evenUnknown) return;
        // Where pushes may have been lost, the member's list may be older than when somebody entered the room.
        const isBehind = isAhead({ seq, read: others }, sent?.mark);
        if (sent?.mark && isBehind && performance.now() - sent.since > SUBSCRIBED_MS) sent.isLacking = true;
        if (isBehind || (evenUnknown && !sent?.isDelivered)) {
          await this.#refresh(memberNo, chatNo, this.#sent(memberNo, chatNo));
        }
      }),
    );
  }

  #sent(memberNo: number, chatNo: number): Sent {
    const rooms = this.#members.get(memberNo) ?? new Map<number, Sent>();
    this.#members.set(memberNo, rooms);
    const sent = rooms.get(chatNo) ?? {
      since: performance.now(),
      mark: undefined,
      isDelivered: false,
      isLacking: false,
      isReading: false,
      readAgain: false,
      deliveredAt: Number.NEGATIVE_INFINITY,
      held: undefined,
    };
    rooms.set(chatNo, sent);
    return sent;
  }

  /** Delivers a state, or holds it in place of an earlier one until the interval is over. */
  #deliver(sent: Sent, deliver: () => void): void {
    const waitMs = sent.deliveredAt + this.#deps.intervalMs - performance.now();
    if (waitMs <= JITTER_MS) this.#deliverNow(sent, deliver);
    else if (sent.held) sent.held.deliver = deliver;
    else {
      const timer = setTimeout(() => this.#deliverNow(sent, held.deliver), waitMs);
      const held: Held = { deliver, timer };
      sent.held = held;
      timer.unref();
    }
  }

  #deliverNow(sent: Sent, deliver: () => void): void {
    clearTimeout(sent.held?.timer);
    sent.held = undefined;
    sent.deliveredAt = performance.now();
    deliver();
  }

  #isForgotten(memberNo: number, chatNo: number, sent: Sent): boolean {
    return this.#members.get(memberNo)?.get(chatNo) !== sent;
  }

  /** Delivers the state from the database; a read under way is repeated. */
  async #refresh(memberNo: number, chatNo: number, sent: Sent): Promise<void> {
    sent.readAgain = true;
    if (sent.isReading || this.#isForgotten(memberNo, chatNo, sent)) return;
    sent.isReading = true;
    try {
      await this.#read(memberNo, chatNo, sent);
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 503) {
        this.#deps.logger.warn({ err: error, chatNo }, 'the state of a room could not be read; retrying');
        setTimeout(() => void this.#refresh(memberNo, chatNo, sent), AFTER_FAILURE_MS).unref();
      } else if (!sent.mark) {
        // A room or participant that does not exist comes from a forged or broken push.
        this.#members.get(memberNo)?.delete(chatNo);
      }
    } finally {
      sent.isReading = false;
    }
  }

  async #read(memberNo: number, chatNo: number, sent: Sent): Promise<void> {
    do {
      sent.readAgain = false;
      const { view, mark } = await this.#deps.read(chatNo, memberNo);
      if (this.#isForgotten(memberNo, chatNo, sent)) return;
      if (isNew(mark, sent)) {
        if (sent.isLacking) lostPushes.mended('room', memberRoom(memberNo), chatNo, { ...mark });
        sent.isLacking = false;
        sent.mark = mark;
        sent.isDelivered = true;
        this.#deliver(sent, () => this.#deps.emit(memberNo, view));
      }
    } while (sent.readAgain);
  }
}
