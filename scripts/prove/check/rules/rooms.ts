import type { RoomState } from '../../history.js';
import { AFTER_FAULTS_MS, type View, wasConnected } from '../facts/views.js';
import { at, type Rule } from '../rule.js';

/** Time in which a joined socket is sent a lost `room` event, ms (PROTOCOL: within 10 s). */
const ARRIVES_WITHIN_MS = 12_000;

export const latest: Rule = {
  name: 'latest-message',
  says: 'The latest message of a room list is the newest of its room',
  source: 'docs/contract.md, section 4, promise 4',
  watch(run, report) {
    /** @param askedAt undefined for an event, which may be older than what others were shown */
    function check({ room: no, latest }: RoomState, shown: string, askedAt?: number): void {
      if (run.isOfOthers(no)) return;
      const room = run.messages.room(no);
      const message = latest === undefined ? null : run.messages.byContent(latest);
      if (message === undefined || (message && message.room !== room))
        report(`${shown} shows "${latest}" as the latest of room ${no}: nobody has sent it there`);
      else if (askedAt !== undefined) run.messages.showHead(room, message, askedAt);
    }
    return {
      answered(ok, asked) {
        if (ok.f !== 'rooms') return;
        for (const state of ok.rooms) check(state, `the list of member ${asked.member}`, asked.t);
      },
      delivered(delivery) {
        if (delivery.event === 'room') check(delivery.state, `a room event to ${delivery.client}`);
      },
    };
  },
};

/** A room as a socket shows it. */
interface Shown {
  state: RoomState;
  /** When the event came, or the list was asked for. */
  at: number;
  by: 'event' | 'list';
}

/** An open socket, and the rooms of its member that it shows. */
interface Socket {
  client: string;
  member: number;
  rooms: Map<number, Shown>;
}

/** The state of a room as it prints in a difference. */
const line = ({ unread, latest }: RoomState): string =>
  `${unread} unread, latest ${latest ? `"${latest}"` : 'none'}`;

export const roomEvents: Rule = {
  name: 'room-events-are-fresh',
  says: 'A joined room as the last list and the `room` events after it show it is what a fresh list says',
  source: 'docs/contract.md, section 5; gateway/PROTOCOL.md, order and catching up',
  watch(run, report) {
    const sockets = new Map<string, Socket>();
    /** Differences; whether they count is known once their connections are known to have lasted. */
    const found: { view: View; t: number; text: string }[] = [];

    function compare({ client, rooms }: Socket, fresh: RoomState, askedAt: number): void {
      const { room } = fresh;
      const view = run.views.of(room, client);
      const shown = rooms.get(room);
      // Of a room that is not joined, events may be lost.
      if (!shown || view?.state !== 'in' || shown.at < view.joinedAt) return;
      const since = Math.max(run.touchedAt.get(room) ?? 0, view.joinedAt);
      if (!run.disturbances.isSettled(since, askedAt, ARRIVES_WITHIN_MS, AFTER_FAULTS_MS)) return;
      run.coverage.add('roomStatesCompared');
      const { state, by } = shown;
      if (state.unread === fresh.unread && state.latest === fresh.latest) return;
      const text = `room ${room} at ${client}, quiet since ${at(since)}:\n  - ${line(state)} (last ${by})\n  + ${line(fresh)} (fresh list)`;
      found.push({ view, t: run.now, text });
    }

    /** A list replaces what a socket shows, unless an event came meanwhile. */
    function show(socket: Socket, state: RoomState, askedAt: number): void {
      if (run.phase === 'final') compare(socket, state, askedAt);
      const { at = askedAt } = socket.rooms.get(state.room) ?? {};
      if (at <= askedAt) socket.rooms.set(state.room, { state, at: askedAt, by: 'list' });
    }

    return {
      answered(ok, asked) {
        const { client, member } = asked;
        if (ok.f === 'connect') sockets.set(client, { client, member, rooms: new Map() });
        if (ok.f !== 'rooms') return;
        const own = [...sockets.values()].filter((socket) => socket.member === member);
        for (const socket of own) for (const state of ok.rooms) show(socket, state, asked.t);
      },
      delivered(delivery) {
        if (delivery.event !== 'room') return;
        const { client, state, t } = delivery;
        sockets.get(client)?.rooms.set(state.room, { state, at: t, by: 'event' });
      },
      closed({ client, door }) {
        if (door === 'socket') sockets.delete(client);
      },
      end() {
        for (const { view, t, text } of found) if (wasConnected(view, t)) report(text, t);
      },
    };
  },
};
