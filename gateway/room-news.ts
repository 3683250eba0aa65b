import { AppError } from '../domain/kernel/errors.js';
import type { RoomHead, RoomMark, RoomView } from '../domain/kernel/live.js';
import type { Logger } from '../domain/platform/logger.js';

/** What the room news work with. */
export interface RoomNewsPorts {
  /** A room as a participant sees it, from the database. */
  read(chatNo: number, memberNo: number): Promise<{ view: RoomView; mark: RoomMark }>;
  /** The numbers of all rooms of these members. */
  headsOf(memberNos: number[]): Promise<RoomHead[]>;
  /** Whether a socket of this process is the member's. */
  isConnected(memberNo: number): boolean;
  /** The members who have one. */
  connected(): number[];
  /** Sends a room's state to the member's sockets on this process. */
  emit(memberNo: number, view: RoomView): void;
}

/** What the sockets of a member were told of a room. */
interface Told {
  /** Undefined while that is not known. */
  mark: RoomMark | undefined;
  /** False while `mark` is what a member's list should say who came in, and no event of ours. */
  passedOn: boolean;
  /** Whether the room is being read for them. */
  reading: boolean;
  /** Whether it has to be read once more: something came in between. */
  again: boolean;
}

/** Time, in ms, until a room is read again that could not be. */
const AFTER_FAILURE_MS = 1_000;

/** Members whose rooms are looked at together. */
const MEMBERS_AT_ONCE = 100;

/** Whether one state has a number that another has not reached; everything has where that is not known. */
function isAhead(mark: RoomMark, of: RoomMark | undefined): boolean {
  return !of || mark.seq > of.seq || mark.read > of.read;
}

/**
 * Gives members' sockets on this process the states of their rooms (`room` events), whichever process tells
 * them, in whatever order: what says nothing new is dropped, and what is newer in one number and older in the
 * other, because two processes wrote at the same time, is read from the database. So the last state that is
 * passed on has the highest numbers of all that came.
 */
export interface RoomNews {
  /** A state has arrived; `deliver` passes it on as it came. */
  offer(memberNo: number, chatNo: number, mark: RoomMark, deliver: () => void): void;
  /** One of a room's members is about to enter it: from here on, what is lost is noticed by comparing. */
  follow(head: RoomHead): void;
  /** Takes a room's numbers from the database: members who were told of lower ones get its state. */
  compare(head: RoomHead): void;
  /** Compares all rooms of all members here: pushes to any of them may have been lost. */
  compareAll(): Promise<void>;
  /** The last socket of the member is gone. */
  forget(memberNo: number): void;
}

/** @param alone whether no other process tells states: each is then told in its turn, and complete */
export function createRoomNews(ports: RoomNewsPorts, alone: boolean, logger: Logger): RoomNews {
  const members = new Map<number, Map<number, Told>>();

  function toldOf(memberNo: number, chatNo: number): Told {
    const rooms = members.get(memberNo) ?? new Map<number, Told>();
    members.set(memberNo, rooms);
    const told = rooms.get(chatNo) ?? { mark: undefined, passedOn: false, reading: false, again: false };
    rooms.set(chatNo, told);
    return told;
  }

  const isKept = (memberNo: number, chatNo: number, told: Told) =>
    members.get(memberNo)?.get(chatNo) === told;

  /** Reads the room until nothing came in between. */
  async function read(memberNo: number, chatNo: number, told: Told): Promise<void> {
    do {
      told.again = false;
      const { view, mark } = await ports.read(chatNo, memberNo);
      if (!isKept(memberNo, chatNo, told)) return;
      if (isAhead(mark, told.mark)) {
        told.mark = mark;
        told.passedOn = true;
        ports.emit(memberNo, view);
      }
    } while (told.again);
  }

  async function refresh(memberNo: number, chatNo: number, told: Told): Promise<void> {
    told.again = true;
    if (told.reading || !isKept(memberNo, chatNo, told)) return;
    told.reading = true;
    try {
      await read(memberNo, chatNo, told);
    } catch (error) {
      logger.warn({ err: error, chatNo }, 'the state of a room could not be read');
      // A room or a participant that does not exist comes from a forged or broken push.
      if (!(error instanceof AppError) || error.status === 503) {
        setTimeout(() => void refresh(memberNo, chatNo, told), AFTER_FAILURE_MS).unref();
      }
    } finally {
      told.reading = false;
    }
  }

  /** @param all also those of whom it is not known what they were told */
  async function compare({ chatNo, seq, reads }: RoomHead, all: boolean): Promise<void> {
    await Promise.all(
      reads.map(async ({ memberNo, others }) => {
        if (!ports.isConnected(memberNo)) return;
        const known = members.get(memberNo)?.get(chatNo)?.mark;
        if (!known && !all) return;
        if (isAhead({ seq, read: others }, known)) {
          await refresh(memberNo, chatNo, toldOf(memberNo, chatNo));
        }
      }),
    );
  }

  return {
    offer(memberNo, chatNo, mark, deliver) {
      if (!ports.isConnected(memberNo)) return;
      const told = toldOf(memberNo, chatNo);
      const { mark: last } = told;
      const isBehind = last !== undefined && isAhead(last, mark);
      // The very state that a member came in with may be on its way to them.
      if (!isAhead(mark, last) && (isBehind || told.passedOn)) return;
      if (!told.reading && (last ? !isBehind : alone)) {
        told.mark = mark;
        told.passedOn = true;
        deliver();
      } else {
        void refresh(memberNo, chatNo, told);
      }
    },

    follow({ chatNo, seq, reads }) {
      for (const { memberNo, others } of reads) {
        if (ports.isConnected(memberNo)) toldOf(memberNo, chatNo).mark ??= { seq, read: others };
      }
    },

    compare: (head) => void compare(head, false),

    async compareAll() {
      const memberNos = ports.connected();
      for (let i = 0; i < memberNos.length; i += MEMBERS_AT_ONCE) {
        const heads = await ports.headsOf(memberNos.slice(i, i + MEMBERS_AT_ONCE));
        await Promise.all(heads.map((head) => compare(head, true)));
      }
    },

    forget(memberNo) {
      members.delete(memberNo);
    },
  };
}
