import type { HistoryLine } from '../../../../scripts/prove/history.js';
import {
  calls,
  drop,
  events,
  finalJoins,
  first,
  type Mutation,
  membersOf,
  neighbours,
  timeOf,
} from './edit-history.js';

/** Faults of what its name says, by the rule that finds them. */
export const viewMutations: Mutation[] = [
  {
    fault: 'drops a push',
    rule: 'no-view-skips',
    apply(lines) {
      const pair = neighbours(lines);
      if (pair) drop(lines, pair[0]);
      return pair !== undefined;
    },
  },
  {
    fault: 'swaps two pushes',
    rule: 'no-view-skips',
    apply(lines) {
      const pair = neighbours(lines);
      if (pair) [pair[0].message, pair[1].message] = [pair[1].message, pair[0].message];
      return pair !== undefined;
    },
  },
  {
    fault: 'doubles a push',
    rule: 'no-view-skips',
    apply(lines) {
      const [push] = neighbours(lines) ?? [];
      if (push) lines.splice(lines.indexOf(push), 0, { ...push });
      return push !== undefined;
    },
  },
  {
    fault: 'drops the last push of a room',
    rule: 'joined-view-is-fresh',
    apply(lines) {
      const [last] = events(lines, 'message').reverse();
      // Only of a socket that stays in its room, and joins it no more.
      const left = lines.some(
        (line) =>
          line.t > (last?.t ?? 0) &&
          'client' in line &&
          line.client === last?.client &&
          line.e !== 'delivery',
      );
      const joined = calls(lines, 'join').some(
        ({ ok, asked }) => asked.client === last?.client && ok.t > last.t,
      );
      if (!last || left || joined) return false;
      drop(lines, last);
      return true;
    },
  },
  {
    fault: 'shows a count of unread messages that is off by one',
    rule: 'unread-counts',
    apply: (lines) =>
      first(calls(lines, 'rooms').reverse(), ({ ok }) => {
        (ok.rooms[0] as { unread: number }).unread += 1;
      }),
  },
  {
    fault: 'shows the latest message of another room',
    rule: 'latest-message',
    apply: (lines) =>
      first(events(lines, 'room'), ({ state }) => {
        state.latest = 'nobody has sent this';
      }),
  },
  {
    fault: 'sends a last room event that is outdated',
    rule: 'room-events-are-fresh',
    apply(lines) {
      const end = timeOf(lines, 'quiet');
      const last = events(lines, 'room')
        .filter(({ t }) => t < end)
        .reverse();
      for (const client of new Set(last.map((event) => event.client))) {
        const joined = new Set(
          calls(lines, 'join').flatMap(({ asked }) => (asked.client === client ? [asked.room] : [])),
        );
        const gone = lines.filter(
          (line) =>
            (line.e === 'closed' && line.client === client) ||
            (line.e === 'invoke' && line.f === 'leave' && line.client === client),
        );
        const at = Math.max(0, ...gone.map(({ t }) => t));
        const event = last.find(
          ({ t, state, client: to }) => to === client && t > at && joined.has(state.room),
        );
        const isIn = calls(lines, 'join').some(
          ({ asked }) => asked.client === client && asked.t > at && asked.room === event?.state.room,
        );
        if (!event || !isIn) continue;
        event.state.unread += 1;
        return true;
      }
      return false;
    },
  },
  {
    fault: 'takes a read position back',
    rule: 'read-stays-read',
    apply: (lines) =>
      first(
        finalJoins(lines)
          .slice(-1)
          .filter(({ ok }) => ok.messages.some(({ readCount }) => readCount === 0)),
        ({ ok }) => {
          for (const message of ok.messages) message.readCount = 1;
        },
      ),
  },
  {
    fault: 'shows a member as absent who is there',
    rule: 'presence',
    apply: (lines) =>
      first(finalJoins(lines), ({ ok, asked }) => {
        // The one who joins is there, too.
        ok.present = ok.present.filter((no) => no !== asked.member);
      }),
  },
  {
    fault: 'keeps the presence of a member who has left',
    rule: 'presence',
    apply: (lines) =>
      first(
        finalJoins(lines).filter(({ ok, asked }) => {
          const absent = membersOf(lines, asked.room).find((no) => !ok.present.includes(no));
          if (absent === undefined) return false;
          // A connection that was lost may count for 30 s.
          const isLost = (line: HistoryLine) =>
            line.e === 'closed' && line.client === `socket-${absent}` && line.reason !== 'client';
          // The second one to read the room comes soon after the first one has left it.
          return asked.member === membersOf(lines, asked.room)[0] && !lines.some(isLost);
        }),
        ({ ok, asked }) => {
          ok.present = [...membersOf(lines, asked.room)];
        },
      ),
  },
];
