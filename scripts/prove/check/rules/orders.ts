import type { RoomState, SeenComment, SeenNotification } from '../../history.js';
import type { SentComment } from '../facts/comments.js';
import { nameOf, type SentMessage } from '../facts/messages.js';
import { describe } from '../facts/notifications.js';
import { at, type Rule } from '../rule.js';

/**
 * What is shown in the order of two processes' own counters (domain/platform/mongo/data-clock.ts) is in the order of time if
 * it is so far apart, ms: they meet every 2 s, and a process that starts goes some seconds ahead.
 */
const COUNTERS_MS = 30_000;

/** Whether one was certainly stored before the other was asked for, as the room list counts. */
function isBefore(one: SentMessage, other: SentMessage): boolean {
  const { ackedAt = Number.POSITIVE_INFINITY } = one;
  // The counter of one process only rises, also when it is started again.
  const isSame = one.process !== undefined && one.process === other.process;
  return ackedAt + (isSame ? 0 : COUNTERS_MS) < other.askedAt;
}

export const orders: Rule = {
  name: 'lists-are-in-order',
  says: 'Rooms are listed by latest activity, comments oldest first, each with its replies, notifications newest first',
  source: 'docs/contract.md, sections 3, 4 and 6',
  watch(run, report) {
    function checkRooms(rooms: RoomState[], member: number): void {
      // A room that was opened during the run may be newer than any message.
      const found = rooms.map(({ latest, opened }) => {
        if (latest !== undefined) return run.messages.byContent(latest);
        return opened ? undefined : null;
      });
      for (const [i, later] of found.entries()) {
        const above = found.slice(0, i);
        const room = rooms[i]?.room;
        if (later && above.includes(null))
          report(`the list of member ${member} shows room ${room} below a room without messages`);
        const older = later && above.find((one) => one && isBefore(one, later));
        // A process with a wrong clock takes the counters of all others with it.
        const isClockSure = older?.process === later?.process || !run.disturbances.wasClockWrong(0);
        if (!older || !isClockSure) continue;
        report(
          `the list of member ${member} shows room ${room} with ${nameOf(later)}, asked for at ${at(later.askedAt)}, below room ${older.room.no} with ${nameOf(older)}, acknowledged at ${at(older.ackedAt ?? 0)}`,
        );
      }
    }

    /** @param siblings all comments of an article, or all replies to one, as they are listed */
    function checkSiblings(siblings: SeenComment[], list: string): void {
      /** Of those so far, the one that was asked for last. */
      let last: SentComment | undefined;
      for (const { id } of siblings) {
        const comment = run.comments.byId(id);
        if (!comment) continue;
        const { ackedAt, askedAt, content } = comment;
        if (last && ackedAt !== undefined && ackedAt < last.askedAt)
          report(
            `${list} show "${content}", acknowledged at ${at(ackedAt)}, after "${last.content}", asked for at ${at(last.askedAt)}`,
          );
        if (!last || askedAt > last.askedAt) last = comment;
      }
    }

    function checkComments(comments: SeenComment[], article: number): void {
      const list = `the comments of article ${article}`;
      const byParent = new Map<number | undefined, SeenComment[]>();
      for (const one of comments) {
        const siblings = byParent.get(one.parent);
        if (siblings) siblings.push(one);
        else byParent.set(one.parent, [one]);
      }
      for (const siblings of byParent.values()) checkSiblings(siblings, list);
    }

    /** The newest come first. */
    function checkNotifications(listed: SeenNotification[], member: number): void {
      const { records } = run.notifications.of(member);
      /** Of those so far, the one that was shown first. */
      let first: { seenAt: number; seen: SeenNotification } | undefined;
      for (const seen of listed) {
        const { cause, seenAt } = records.get(seen.id) ?? {};
        if (first && cause && cause.askedAt > first.seenAt)
          report(
            `the list of member ${member} shows ${describe(seen)}, caused at ${at(cause.askedAt)}, after ${describe(first.seen)}, shown at ${at(first.seenAt)}`,
          );
        if (seenAt !== undefined && seenAt < (first?.seenAt ?? Number.POSITIVE_INFINITY))
          first = { seenAt, seen };
      }
    }

    return {
      answered(ok, asked) {
        if (ok.f === 'rooms') checkRooms(ok.rooms, asked.member);
        else if (ok.f === 'comments' && asked.f === 'comments') checkComments(ok.comments, asked.article);
        else if (ok.f === 'notifications') checkNotifications(ok.notifications, asked.member);
      },
    };
  },
};
