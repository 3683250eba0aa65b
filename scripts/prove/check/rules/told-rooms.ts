import type { Invoke } from '../../history.js';
import { aliveUntil } from '../facts/views.js';
import { type Answered, type Asked, at, type Rule } from '../rule.js';

/** Time in which a `room` event arrives that was not lost, ms: changes are merged for half a second; the rest is for the machine. */
const ARRIVES_WITHIN_MS = 12_000;

/** Time after its connection, ms, in which a socket may lack an event: its gateway may be subscribing. */
const SUBSCRIBES_MS = 5_000;

/** A room that its member's list showed with unread messages. */
interface Unread {
  listedAt: number;
  /** Number of a message that was sent after the list was answered: all that it counts as unread have lower ones. */
  above?: number;
}

/** A read after which a socket is to be sent the room. */
interface Due {
  client: string;
  member: number;
  room: number;
  readAt: number;
}

type Touching = Asked<'join'> | Asked<'messages'> | Asked<'read'> | Asked<'leave'>;

/** Whether it may change what its member has read of a room, or whether they are in it. */
const isTouching = (asked: Invoke): asked is Touching =>
  asked.f === 'join' || asked.f === 'messages' || asked.f === 'read' || asked.f === 'leave';

/** Whether it reads what the list counted as unread. */
function isReading(asked: Touching, { above }: Unread): boolean {
  if (asked.f === 'read') return above !== undefined && asked.seq >= above;
  return asked.f === 'join' || asked.f === 'messages';
}

const keyOf = (room: number, member: number) => `${room} ${member}`;

export const toldRooms: Rule = {
  name: 'reads-are-told',
  says: 'Who reads a room that their list showed with unread messages is sent a `room` event on every socket',
  source: 'docs/contract.md, section 5; gateway/PROTOCOL.md, `room`',
  watch(run, report) {
    /** When each open socket was connected, by client, of each member. */
    const sockets = new Map<number, Map<string, number>>();
    /** By room and member. */
    const unread = new Map<string, Unread>();
    /** What touches the room: how much is under way, and when it last began or ended; Infinity after an unknown outcome. */
    const touched = new Map<string, { open: number; at: number }>();
    /** By client and room. */
    const due = new Map<string, Due>();
    /** Reads that were not told in time. Whether they count is known once the connections are known to have lasted. */
    let late: Due[] = [];

    function touch({ room, member }: Touching, t: number, by: 1 | -1): void {
      const key = keyOf(room, member);
      const { open, at: before } = touched.get(key) ?? { open: 0, at: 0 };
      unread.delete(key);
      touched.set(key, { open: open + by, at: Math.max(t, before) });
    }

    /** A list is believed if nothing of its member touched the room since it was asked for. */
    function note({ rooms, t }: Answered<'rooms'>, { member, t: askedAt }: Asked<'rooms'>): void {
      for (const { room, unread: count } of rooms) {
        const key = keyOf(room, member);
        const { open, at: last } = touched.get(key) ?? { open: 0, at: 0 };
        if (count > 0 && open === 0 && askedAt > last && !run.views.maybeIn(room, member, t))
          unread.set(key, { listedAt: t });
      }
    }

    /** From the first fault on, events of rooms that are not joined may be lost for good. */
    function expect({ room, member, t }: Touching): void {
      if (run.phase !== 'traffic' || run.disturbances.strikes > 0) return;
      for (const [client, since] of sockets.get(member) ?? []) {
        if (since > t - SUBSCRIBES_MS) continue;
        due.set(`${client} ${room}`, { client, member, room, readAt: t });
        run.coverage.add('readsTold');
      }
    }

    function checkDue(now: number): void {
      if (run.disturbances.strikes > 0) due.clear();
      for (const [key, one] of due) {
        if (now <= one.readAt + ARRIVES_WITHIN_MS) break;
        due.delete(key);
        late.push(one);
      }
    }

    return {
      asked(asked) {
        checkDue(asked.t);
        if (!isTouching(asked)) return;
        const known = unread.get(keyOf(asked.room, asked.member));
        touch(asked, asked.t, 1);
        if (known && isReading(asked, known)) expect(asked);
      },
      answered(ok, asked) {
        const { member, client } = asked;
        if (ok.f === 'connect') sockets.set(member, (sockets.get(member) ?? new Map()).set(client, ok.t));
        else if (ok.f === 'rooms' && asked.f === 'rooms') note(ok, asked);
        else if (ok.f === 'send' && asked.f === 'send' && ok.seq !== undefined) {
          const known = unread.get(keyOf(asked.room, member));
          if (known && asked.t > known.listedAt) known.above ??= ok.seq;
        } else if (isTouching(asked)) touch(asked, ok.t, -1);
      },
      unanswered({ e, t }, asked) {
        if (!isTouching(asked)) return;
        touch(asked, e === 'info' ? Number.POSITIVE_INFINITY : t, -1);
        for (const [key, { room, member }] of due)
          if (room === asked.room && member === asked.member) due.delete(key);
      },
      delivered({ client, t, ...delivery }) {
        checkDue(t);
        if (delivery.event === 'room') due.delete(`${client} ${delivery.state.room}`);
      },
      closed(closed) {
        const { client, door } = closed;
        if (door !== 'socket' || run.hasEnded) return;
        for (const clients of sockets.values()) clients.delete(client);
        for (const [key, one] of due) if (one.client === client) due.delete(key);
        const until = aliveUntil(closed) - ARRIVES_WITHIN_MS;
        late = late.filter((one) => one.client !== client || one.readAt < until);
      },
      end() {
        checkDue(run.now);
        for (const { client, member, room, readAt } of late)
          report(
            `${client} of member ${member} is sent no room event of room ${room}, read at ${at(readAt)} and shown with unread messages before`,
            readAt,
          );
      },
    };
  },
};
