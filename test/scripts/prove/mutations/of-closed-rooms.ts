import type { Delivery, HistoryLine, Invoke } from '../../../../scripts/prove/history.js';
import { calls, drop, events, type Mutation, membersOf, the } from './edit-history.js';

/** Adds an event like one of the history, at the same moment. */
function addLike(
  lines: HistoryLine[],
  event: Delivery,
  { client, member }: Pick<Delivery, 'client' | 'member'>,
) {
  lines.splice(lines.indexOf(event) + 1, 0, { ...event, client, member });
}

/** A socket of another member than those of a room. */
const outsiderOf = (lines: HistoryLine[], room: number) =>
  the(calls(lines, 'connect').find(({ asked }) => !membersOf(lines, room).includes(asked.member))).asked;

/** The refusal of the last join of a foreign room. */
function refusal(lines: HistoryLine[]): { at: number; op: number; t: number } {
  const joins = lines.filter(
    (line) => line.e === 'invoke' && line.f === 'intrude' && line.call === 'room:join',
  );
  const { op } = the(
    joins.findLast((line) => line.e === 'invoke' && 'manner' in line && line.manner === 'foreign'),
  ) as Invoke;
  const at = lines.findIndex((line) => line.e === 'fail' && line.op === op);
  return { at, op, t: the(lines[at]).t };
}

/** Faults of what its name says, by the rule that finds them. */
export const closedRoomMutations: Mutation[] = [
  {
    fault: 'delivers events to a socket that has left the room',
    rule: 'rooms-are-closed',
    apply(lines) {
      const { asked, ok } = the(calls(lines, 'leave').find(({ asked: { door } }) => door === 'socket'));
      const typing = {
        e: 'delivery',
        door: 'socket',
        event: 'typing',
        room: asked.room,
        typing: true,
      } as const;
      const { client, member, process } = asked;
      const event: HistoryLine = { ...typing, t: ok.t, client, member, process, who: member };
      lines.splice(lines.indexOf(ok) + 1, 0, event);
    },
  },
  {
    fault: 'delivers events to a socket that has not joined the room',
    rule: 'rooms-are-closed',
    apply(lines) {
      const joined = the(calls(lines, 'join')[0]);
      drop(lines, joined.asked);
      drop(lines, joined.ok);
      const { client, member, process, room } = joined.asked;
      const event = the(events(lines, 'message')[0]);
      const opened = the(calls(lines, 'connect').find(({ asked }) => asked.client === client)).ok;
      lines.splice(lines.indexOf(opened) + 1, 0, { ...event, t: opened.t, client, member, process, room });
    },
  },
  {
    fault: 'delivers messages to a member of another room',
    rule: 'rooms-are-closed',
    apply(lines) {
      const event = the(events(lines, 'message')[0]);
      addLike(lines, event, outsiderOf(lines, event.room));
    },
  },
  {
    fault: 'tells members of a room about others',
    rule: 'rooms-are-closed',
    apply(lines) {
      const event = the(events(lines, 'presence')[0]);
      event.who = outsiderOf(lines, event.room).member;
    },
  },
  {
    fault: 'sends a room event to another member',
    rule: 'rooms-are-closed',
    apply(lines) {
      const event = the(events(lines, 'room')[0]);
      addLike(lines, event, outsiderOf(lines, event.state.room));
    },
  },
  {
    fault: 'delivers a notification to another member',
    rule: 'rooms-are-closed',
    apply(lines) {
      const event = the(
        events(lines, 'notification').find(
          ({ door, notification }) => door === 'socket' && notification.type === 'chat',
        ),
      );
      addLike(lines, event, outsiderOf(lines, Number(event.notification.url.split(/[/?]/)[2])));
    },
  },
  {
    fault: 'lets a stranger into a room',
    rule: 'others-are-refused',
    apply(lines) {
      const { at, op, t } = refusal(lines);
      lines[at] = { e: 'ok', t, op, f: 'intrude' };
    },
  },
  {
    fault: 'tells a stranger that there is no such room',
    rule: 'others-are-refused',
    apply(lines) {
      const { at, op, t } = refusal(lines);
      lines[at] = { e: 'fail', t, op, status: 404, code: 'CHAT_ROOM_NOT_FOUND' };
    },
  },
  {
    fault: 'loses a push and mends it in time',
    rule: 'pushes-arrive',
    apply(lines) {
      const counts = { 'adoption_lost_pushes_total{what="room"}': 1 };
      const last = the(lines.at(-1));
      lines.splice(-1, 0, { e: 'counts', t: last.t, process: 'socket-process-0', counts });
    },
  },
];
