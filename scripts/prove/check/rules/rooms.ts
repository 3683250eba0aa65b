import type { Invoke, RoomState } from '../../history.js';
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

/** What a socket shows of its member's rooms. */
interface Shown {
  member: number;
  states: Map<number, RoomState>;
}

/** The state of a room as it prints in a difference. */
const line = ({ unread, latest }: RoomState): string =>
  `${unread} unread, latest ${latest ? `"${latest}"` : 'none'}`;

export const roomEvents: Rule = {
  name: 'room-events-are-fresh',
  says: 'The last `room` event of a joined room is what a fresh list says',
  source: 'docs/contract.md, section 5; gateway/PROTOCOL.md, order and catching up',
  watch(run, report) {
    const sockets = new Map<string, Shown>();
    /** When anything last happened that changes a room's state. */
    const changed = new Map<number, number>();
    /** Differences; whether they count is known once their connections are known to have lasted. */
    const found: { view: View; t: number; text: string }[] = [];
    function compare(client: string, shown: RoomState, fresh: RoomState, askedAt: number): void {
      const view = run.views.of(shown.room, client);
      if (view?.state !== 'in') return;
      const since = Math.max(changed.get(shown.room) ?? 0, view.joinedAt);
      if (!run.disturbances.isSettled(since, askedAt, ARRIVES_WITHIN_MS, AFTER_FAULTS_MS)) return;
      run.coverage.add('roomStatesCompared');
      if (shown.unread === fresh.unread && shown.latest === fresh.latest) return;
      const text = `room ${shown.room} at ${client}, quiet since ${at(since)}:\n  - ${line(shown)} (last event)\n  + ${line(fresh)} (fresh list)`;
      found.push({ view, t: run.now, text });
    }

    function compareAll({ member, t }: Invoke, rooms: RoomState[]): void {
      for (const [client, shown] of sockets) {
        if (shown.member !== member) continue;
        for (const fresh of rooms) {
          const state = shown.states.get(fresh.room);
          if (state) compare(client, state, fresh, t);
        }
      }
    }

    return {
      asked(asked) {
        if ('room' in asked) changed.set(asked.room, asked.t);
      },
      unanswered({ t }, asked) {
        if ('room' in asked) changed.set(asked.room, t);
      },
      answered(ok, asked) {
        if ('room' in asked) changed.set(asked.room, ok.t);
        if (ok.f === 'connect') sockets.set(asked.client, { member: asked.member, states: new Map() });
        if (ok.f === 'rooms' && run.phase === 'final') compareAll(asked, ok.rooms);
      },
      delivered(delivery) {
        if (delivery.event === 'room')
          sockets.get(delivery.client)?.states.set(delivery.state.room, delivery.state);
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
