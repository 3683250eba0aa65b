import type { Invoke, RoomState } from '../../history.js';
import { nameOf, otherOf, type RoomRecord } from '../facts/messages.js';
import { AFTER_FAULTS_MS, type View, wasConnected } from '../facts/views.js';
import { at, type Rule } from '../rule.js';

/** Time in which a joined socket is told a lost read position, ms (PROTOCOL: within 10 s). */
const TOLD_WITHIN_MS = 12_000;

/** What a joined socket has shown when a fresh list said how many of its member's messages are unread. */
interface Comparison {
  view: View;
  t: number;
  reader: number;
  unread: number;
  /** Number of the last of its member's messages that it shows as read. */
  shown: number;
}

/** Number of the last message that somebody has read, of all that another has sent: 0 for none. */
function readUpTo({ bySeq }: RoomRecord, sender: number, unread: number): number {
  const sent = bySeq.flatMap((message, seq) => (message?.sender === sender ? [seq] : []));
  return sent[sent.length - unread - 1] ?? 0;
}

export const readMarks: Rule = {
  name: 'read-stays-read',
  says: 'Read positions only rise, follow the message that they refer to, and reach every socket in the room',
  source: 'gateway/PROTOCOL.md, order and catching up; docs/contract.md, section 5',
  watch(run, report) {
    /**
     * Of each client and room the last of its member's messages that it was shown or told to be read, over its connections:
     * an app keeps what it knows.
     */
    const shown = new Map<string, number>();
    const compared = new Map<View, Comparison>();
    const raise = (client: string, room: number, seq: number) => {
      const key = `${client} ${room}`;
      if (seq > (shown.get(key) ?? 0)) shown.set(key, seq);
    };

    /** What the other party's sockets show, while nothing has happened in the room. */
    function compareRoom({ room, unread }: RoomState, asked: Invoke, t: number): void {
      for (const view of run.views.in(room)) {
        const isWhole = view.state === 'in' && view.last !== undefined;
        if (view.member === asked.member || !isWhole || compared.has(view)) continue;
        const since = Math.max(run.touchedAt.get(room) ?? 0, view.joinedAt);
        if (!run.disturbances.isSettled(since, asked.t, TOLD_WITHIN_MS, AFTER_FAULTS_MS)) continue;
        const last = shown.get(`${view.client} ${room}`) ?? 0;
        compared.set(view, { view, t, reader: asked.member, unread, shown: last });
      }
    }

    return {
      saw({ seen, message, by, askedAt, client, room }) {
        if (seen.readCount === 0 && seen.seq !== undefined && by !== 'acknowledgement') {
          const view = run.views.of(room, client);
          if (view?.member === seen.sender) raise(client, room, seen.seq);
        }
        // A push may be older than what others were shown, an acknowledgement is as the message was stored; a read is not.
        if (by === 'push' || by === 'acknowledgement' || seen.readCount !== 1 || !message) return;
        if (message.readAt === undefined || message.readAt >= askedAt) return;
        report(
          `a ${by} by ${client}, asked at ${at(askedAt)}, shows ${nameOf(seen)} as unread; it was shown as read at ${at(message.readAt)}`,
        );
      },
      delivered(delivery) {
        if (delivery.event !== 'message:read') return;
        const { room, client, reader, seq, member } = delivery;
        if (reader !== member) raise(client, room, seq);
        const view = run.views.of(room, client);
        if (view?.state !== 'in' || view.joining > 0) return;
        const last = view.reads.get(reader) ?? 0;
        const told = `${client} in room ${room} is told that member ${reader} has read up to ${seq}`;
        if (seq < last) report(`${told}, and was told ${last} before`);
        else if (view.last !== undefined && seq > view.last) report(`${told}, and shows up to ${view.last}`);
        view.reads.set(reader, Math.max(seq, last));
      },
      answered(ok, asked) {
        if (ok.f !== 'rooms' || run.phase !== 'final') return;
        for (const state of ok.rooms) compareRoom(state, asked, ok.t);
      },
      end() {
        for (const { view, t, reader, unread, shown: last } of compared.values()) {
          run.coverage.add('readPositionsCompared');
          const room = run.messages.room(view.room);
          // By now all messages of the room have been seen with their numbers.
          const read = readUpTo(room, otherOf(room, reader), unread);
          if (last >= read || !wasConnected(view, t)) continue;
          report(
            `${view.client} in room ${view.room} shows member ${view.member}'s messages up to number ${last} as read; by the list of member ${reader} ${read} is`,
            t,
          );
        }
      },
    };
  },
};
