import { ackedIn, nameOf, type RoomRecord, type SentMessage } from '../facts/messages.js';
import type { Answered, Asked, Report, Rule } from '../rule.js';
import { at } from '../rule.js';

/** What a read had to show: the highest number seen before it began, and how many messages were acknowledged. */
type Floor = Pick<RoomRecord, 'head'> & { acked: number };

function checkJoin(asked: Asked<'join'>, ok: Answered<'join'>, floor: Floor, report: Report): void {
  const { room, client, after, t } = asked;
  const where = `the join of room ${room} by ${client}, asked at ${at(t)}`;
  if (ok.seq < floor.head) {
    report(`${where}, says that the newest number is ${ok.seq}; ${floor.head} was seen before`);
  } else if (ok.seq < floor.acked) {
    report(
      `${where}, says that the newest number is ${ok.seq}; ${floor.acked} messages were acknowledged before`,
    );
  }
  let next = after + 1;
  for (const { seq = next } of ok.messages) {
    if (seq !== next) {
      report(`${where} after ${after}, holds number ${seq} where ${next} follows`);
      return;
    }
    next += 1;
  }
  if (!ok.more && next <= ok.seq)
    report(`${where} after ${after}, ends before number ${next}, and the newest is ${ok.seq}`);
  if (ok.more && next > ok.seq)
    report(`${where} after ${after}, says that more follow, and the newest is ${ok.seq}`);
}

/**
 * No message was acknowledged before a read began that should have held it, and did not: for the newest message that
 * reads showed, those after it were acknowledged after the last of these reads began.
 */
function checkHeads(room: RoomRecord, report: Report): void {
  /** Of all messages after the current one, that acknowledged first. */
  let first: SentMessage | undefined;
  for (let seq = room.head; seq >= 0; seq -= 1) {
    const message = room.bySeq[seq];
    const headAt = seq === 0 ? room.emptyAt : message?.headAt;
    if (headAt !== undefined && first?.ackedAt !== undefined && first.ackedAt < headAt) {
      report(
        `a read of room ${room.no} that began at ${at(headAt)} ends with ${message ? nameOf(message) : 'nothing'}, without ${nameOf(first)}, acknowledged at ${at(first.ackedAt)}`,
        headAt,
      );
    }
    if (message?.ackedAt !== undefined && message.ackedAt < (first?.ackedAt ?? Number.POSITIVE_INFINITY)) {
      first = message;
    }
  }
}

export const acked: Rule = {
  name: 'acknowledged-is-kept',
  says: 'What was acknowledged or shown is in every later read of its place, by both parties, for ever',
  source: 'docs/contract.md, promises 1 and 2',
  watch(run, report) {
    const floors = new Map<number, Floor>();
    /** Rooms that were read from the first message to the last, after the traffic. */
    const readWhole = new Set<number>();
    /** Clients that read a room page by page, all from its first message. */
    const reading = new Map<string, number>();
    function noteWhole(asked: Asked<'join'>, ok: Answered<'join'>): void {
      const reader = `${asked.client} ${asked.room}`;
      if (run.phase !== 'final' || (asked.after > 0 && reading.get(reader) !== asked.after)) return;
      reading.set(reader, ok.messages.at(-1)?.seq ?? asked.after);
      if (!ok.more) readWhole.add(asked.room);
    }

    let finalAt = Number.POSITIVE_INFINITY;
    function checkPlaced(message: SentMessage): void {
      const { seenAt, seq, room } = message;
      if (seenAt === undefined || seenAt > finalAt || seq !== undefined || !readWhole.has(room.no)) return;
      report(
        `${nameOf(message)} of room ${room.no} was acknowledged or shown at ${at(seenAt)}, and the whole room, read at the end, does not hold it`,
        seenAt,
      );
    }

    return {
      phase({ phase, t }) {
        if (phase === 'final') finalAt = t;
      },
      asked(asked) {
        if (asked.f !== 'join') return;
        const room = run.messages.room(asked.room);
        floors.set(asked.op, { head: room.head, acked: ackedIn(room) });
      },
      unanswered: (_, { op }) => void floors.delete(op),
      answered(ok, asked) {
        if (ok.f === 'join' && asked.f === 'join') {
          const floor = floors.get(ok.op);
          floors.delete(ok.op);
          if (floor) checkJoin(asked, ok, floor, report);
          noteWhole(asked, ok);
          const room = run.messages.room(asked.room);
          run.messages.showHead(room, ok.seq === 0 ? null : room.bySeq[ok.seq], asked.t);
        } else if (ok.f === 'messages' && asked.f === 'messages' && asked.before === undefined) {
          const newest = ok.messages.at(-1);
          const head = newest ? run.messages.byContent(newest.content) : null;
          run.messages.showHead(run.messages.room(asked.room), head, asked.t);
        }
      },
      end() {
        for (const message of run.messages.all()) checkPlaced(message);
        for (const room of run.messages.rooms.values()) checkHeads(room, report);
      },
    };
  },
};
