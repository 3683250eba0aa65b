import type { RoomState } from '../../history.js';
import { nameOf, otherOf, type RoomRecord } from '../facts/messages.js';
import type { Run } from '../facts/run.js';
import { wasConnected } from '../facts/views.js';
import { at, type Report, type Rule, type Watcher } from '../rule.js';

/** How much one member has read of one room, in messages of the other party. */
interface Reading {
  /** At least so many: acknowledged before a read began that succeeded. */
  sure: number;
  /** At most so many: asked for before the member could last read. */
  perhaps: number;
  /** Unread by the member's list after the traffic, while nothing has read the room since. */
  final?: number;
}

/** What an operation that reads, or lists rooms, saw when it began: numbers by room. `acked`: of a read position, up to there. */
type Before = Map<number, { acked: number; sure: number }>;

const countOf = (counts: Map<number, number>, room: RoomRecord, member: number) =>
  counts.get(otherOf(room, member)) ?? 0;

/** Messages of the other party that are known to be stored, up to a number. */
const storedUpTo = (room: RoomRecord, member: number, seq: number): number =>
  room.bySeq.slice(0, seq + 1).filter((message) => message?.sender === otherOf(room, member)).length;

class Readings {
  readonly #run: Run;
  readonly #byKey = new Map<string, Reading>();

  constructor(run: Run) {
    this.#run = run;
  }

  of(room: number, member: number): Reading {
    const key = `${room} ${member}`;
    const reading = this.#byKey.get(key) ?? { sure: 0, perhaps: 0 };
    this.#byKey.set(key, reading);
    return reading;
  }

  /** The member may read all that may be there now. */
  mayRead(no: number, member: number): void {
    const room = this.#run.messages.room(no);
    const reading = this.of(no, member);
    reading.perhaps = countOf(room.attempted, room, member);
    delete reading.final;
  }
}

/** Reads of a room by its member: the join of a socket, a page by REST, a read position. */
const READS = new Set(['join', 'messages', 'read']);

/** Compares a count of the list with the messages themselves, which the other party sees to be read or not. */
function finalCounts(run: Run, readings: Readings, report: Report): NonNullable<Watcher['answered']> {
  /** Messages of the reader that are not read, by reader and room, of reads from the first message on. */
  const unreadOf = new Map<string, number>();
  return (ok, asked) => {
    if (run.phase !== 'final' || ok.f !== 'join' || asked.f !== 'join') return;
    const key = `${asked.client} ${asked.room}`;
    if (asked.after > 0 && !unreadOf.has(key)) return;
    const own = ok.messages.filter(({ sender, readCount }) => sender === asked.member && readCount === 1);
    const count = (asked.after > 0 ? (unreadOf.get(key) ?? 0) : 0) + own.length;
    unreadOf.set(key, count);
    const reader = otherOf(run.messages.room(asked.room), asked.member);
    const { final } = readings.of(asked.room, reader);
    if (ok.more || final === undefined) return;
    run.coverage.add('unreadCountsCompared');
    if (final !== count) {
      report(
        `the list of member ${reader} says ${final} unread in room ${asked.room}; of the messages to them ${count} are`,
      );
    }
  };
}

/** What a list says after the traffic. */
interface Listed {
  room: RoomRecord;
  reader: number;
  unread: number;
}

/** Who is in the room reads at once: none of the last messages, which a list counts as unread, came meanwhile. */
function checkPresent({ room, reader, unread }: Listed, report: Report): void {
  const sent = room.bySeq.filter((message) => message?.sender === otherOf(room, reader));
  for (const message of unread > 0 ? sent.slice(-unread) : []) {
    const { present, ackedAt } = message ?? {};
    if (!message || !present || ackedAt === undefined || !wasConnected(present, ackedAt)) continue;
    report(
      `the list of member ${reader} says ${unread} unread in room ${room.no}, ${nameOf(message)} among them; their socket ${present.client} was in the room when it came, acknowledged at ${at(ackedAt)}`,
    );
    return;
  }
}

/** The unread counts of the room list lie between what must and what can be unread; without traffic they are exact. */
export const unread: Rule = {
  name: 'unread-counts',
  says: 'Unread counts lie between what was acknowledged and what was attempted, and are exact when it is quiet',
  source: 'docs/contract.md, section 4, promises 3 and 4',
  watch(run, report) {
    const readings = new Readings(run);
    const begun = new Map<number, Before>();
    const roomsOf = new Map<number, RoomRecord[]>();
    const finals: Listed[] = [];

    function begin(op: number, member: number, nos: Iterable<RoomRecord>): void {
      const before: Before = new Map();
      for (const room of nos) {
        const { sure } = readings.of(room.no, member);
        before.set(room.no, { acked: countOf(room.acked, room, member), sure });
      }
      begun.set(op, before);
    }

    /** @param before when the list was asked for */
    function checkCount(room: RoomRecord, member: number, unread: number, before: Before): void {
      const { acked, sure } = before.get(room.no) ?? { acked: 0, sure: 0 };
      const reading = readings.of(room.no, member);
      const least = Math.max(0, acked - reading.perhaps);
      const most = Math.max(0, countOf(room.attempted, room, member) - sure);
      if (unread < least || unread > most) {
        report(
          `the list of member ${member} says ${unread} unread in room ${room.no}; it is ${least === most ? least : `${least} to ${most}`}: ${acked} acknowledged, at most ${reading.perhaps} read; ${countOf(room.attempted, room, member)} attempted, at least ${sure} read`,
        );
      }
      if (run.phase !== 'final') return;
      if (reading.final !== undefined && reading.final !== unread)
        report(
          `the list of member ${member} says ${unread} unread in room ${room.no}, and said ${reading.final}`,
        );
      if (reading.final === undefined) finals.push({ room, reader: member, unread });
      reading.final = unread;
    }

    function checkList(member: number, listed: RoomState[], before: Before): void {
      const counts = new Map(listed.map(({ room, unread }) => [room, unread]));
      for (const room of roomsOf.get(member) ?? []) {
        const count = counts.get(room.no);
        if (count === undefined) report(`the list of member ${member} lacks room ${room.no}`);
        else checkCount(room, member, count, before);
      }
    }

    const compareFinal = finalCounts(run, readings, report);

    return {
      header({ rooms }) {
        for (const { room: no, creator, joiner } of rooms) {
          for (const member of [creator, joiner])
            roomsOf.set(member, [...(roomsOf.get(member) ?? []), run.messages.room(no)]);
        }
      },
      asked(asked) {
        if (asked.f === 'send') {
          const room = run.messages.room(asked.room);
          const recipient = otherOf(room, asked.member);
          if (run.views.maybeIn(asked.room, recipient, asked.t)) readings.mayRead(asked.room, recipient);
        } else if (asked.f === 'rooms') {
          begin(asked.op, asked.member, roomsOf.get(asked.member) ?? []);
        } else if (READS.has(asked.f) && 'room' in asked) {
          const room = run.messages.room(asked.room);
          begin(asked.op, asked.member, [room]);
          const before = begun.get(asked.op)?.get(asked.room);
          if (before && asked.f === 'read') before.acked = storedUpTo(room, asked.member, asked.seq);
          readings.mayRead(asked.room, asked.member);
        }
      },
      answered(ok, asked) {
        compareFinal(ok, asked);
        const before = begun.get(ok.op);
        begun.delete(ok.op);
        if (!before) return;
        if (ok.f === 'rooms') checkList(asked.member, ok.rooms, before);
        else if ('room' in asked) {
          readings.mayRead(asked.room, asked.member);
          const reading = readings.of(asked.room, asked.member);
          const room = run.messages.room(asked.room);
          // Nothing is under way any more: what was attempted is stored, and read, or never will be.
          const isAll = run.phase === 'final' && asked.f !== 'read';
          const all = isAll ? countOf(room.attempted, room, asked.member) : 0;
          // A join that a leave meets, perhaps reads nothing.
          const isIn = asked.f !== 'join' || run.views.of(asked.room, asked.client)?.state === 'in';
          if (isIn) reading.sure = Math.max(reading.sure, all, before.get(asked.room)?.acked ?? 0);
        }
      },
      unanswered(_, asked) {
        begun.delete(asked.op);
        if (READS.has(asked.f) && 'room' in asked) readings.mayRead(asked.room, asked.member);
      },
      end() {
        // Only at its end have all messages been seen with their numbers.
        if (run.hasEnded) for (const listed of finals) checkPresent(listed, report);
      },
    };
  },
};
