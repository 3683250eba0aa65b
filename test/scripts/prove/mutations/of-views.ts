import type { HistoryLine } from '../../../../scripts/prove/history.js';
import {
  calls,
  drop,
  dropAll,
  events,
  finalJoins,
  inTraffic,
  type Mutation,
  membersOf,
  neighbours,
  the,
  timeOf,
} from './edit-history.js';

/** The last push, to a socket that stays in its room. */
const lastPush = (lines: HistoryLine[]) => the(events(lines, 'message').at(-1));

/** Faults of what its name says, by the rule that finds them. */
export const viewMutations: Mutation[] = [
  {
    fault: 'drops a push',
    rule: 'no-view-skips',
    apply: (lines) => drop(lines, neighbours(lines)[0]),
  },
  {
    fault: 'swaps two pushes',
    rule: 'no-view-skips',
    apply(lines) {
      const [a, b] = neighbours(lines);
      [a.message, b.message] = [b.message, a.message];
    },
  },
  {
    fault: 'doubles a push',
    rule: 'no-view-skips',
    apply(lines) {
      const [push] = neighbours(lines);
      lines.splice(lines.indexOf(push), 0, { ...push });
    },
  },
  {
    fault: 'drops the last push of a room',
    rule: 'joined-view-is-fresh',
    apply: (lines) => drop(lines, lastPush(lines)),
  },
  {
    fault: 'shows a count of unread messages that is off by one',
    rule: 'unread-counts',
    apply(lines) {
      the(
        calls(lines, 'rooms')
          .at(-1)
          ?.ok.rooms.find(({ opened }) => !opened),
      ).unread += 1;
    },
  },
  {
    fault: 'shows the latest message of another room',
    rule: 'latest-message',
    apply(lines) {
      the(events(lines, 'room')[0]).state.latest = 'nobody has sent this';
    },
  },
  {
    fault: 'sends a last room event that is outdated',
    rule: 'room-events-are-fresh',
    apply(lines) {
      const { client, room } = lastPush(lines);
      const end = timeOf(lines, 'quiet');
      const sent = events(lines, 'room').filter(
        (one) => one.client === client && one.state.room === room && one.t < end,
      );
      the(sent.at(-1)).state.unread += 1;
    },
  },
  {
    fault: 'sends no room event at all',
    rule: 'room-events-are-fresh',
    apply: (lines) => dropAll(lines, ({ event }) => event === 'room'),
  },
  {
    fault: 'sends no room event after a read',
    rule: 'reads-are-told',
    apply(lines) {
      const { asked } = the(inTraffic(lines, calls(lines, 'messages')).at(-1));
      dropAll(
        lines,
        (one) =>
          one.event === 'room' &&
          one.state.room === asked.room &&
          one.member === asked.member &&
          one.t > asked.t,
      );
    },
  },
  {
    fault: 'takes a read position back',
    rule: 'read-stays-read',
    apply(lines) {
      for (const message of the(finalJoins(lines).at(-1)).ok.messages) message.readCount = 1;
    },
  },
  {
    fault: 'tells nobody how far messages are read',
    rule: 'read-stays-read',
    apply: (lines) => dropAll(lines, ({ event }) => event === 'message:read'),
  },
  {
    fault: 'shows a member as absent who is there',
    rule: 'presence',
    apply(lines) {
      const { ok, asked } = the(finalJoins(lines)[0]);
      // The one who joins is there, too.
      ok.present = ok.present.filter((no) => no !== asked.member);
    },
  },
  {
    fault: 'keeps the presence of a member who has left',
    rule: 'presence',
    apply(lines) {
      // The second one to read the room comes soon after the first one has left it.
      const join = finalJoins(lines).find(({ ok, asked }) => {
        const members = membersOf(lines, asked.room);
        return asked.member === members[0] && members.some((no) => !ok.present.includes(no));
      });
      const { ok, asked } = the(join);
      ok.present = [...membersOf(lines, asked.room)];
    },
  },
  {
    fault: 'tells nobody that members leave',
    rule: 'joined-view-is-fresh',
    apply: (lines) => dropAll(lines, (one) => one.event === 'presence' && !one.present),
  },
  {
    fault: 'tells nobody that members enter',
    rule: 'joined-view-is-fresh',
    apply: (lines) => dropAll(lines, (one) => one.event === 'presence' && one.present),
  },
  {
    fault: 'shows a member as typing who is not',
    rule: 'typing-is-typed',
    apply(lines) {
      const event = the(events(lines, 'typing')[0]);
      const inRoom = membersOf(lines, event.room);
      // Nobody else can have typed there.
      const outsider = calls(lines, 'connect').find(({ asked }) => !inRoom.includes(asked.member));
      event.who = the(outsider).asked.member;
    },
  },
];
