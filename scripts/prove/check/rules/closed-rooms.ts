import type { Delivery } from '../../history.js';
import { AFTER_FAULTS_MS } from '../facts/views.js';
import { at, type Rule } from '../rule.js';

/** Time in which a leave by REST takes the member's sockets of all processes out, ms (PROTOCOL: within 10 s), and some for the machine. */
const TAKEN_OUT_MS = 12_000;

/** The number of a room or an article in the url of a notification. */
const OF_URL = /^\/(chat|board)\/(\d+)/;

export const closedRooms: Rule = {
  name: 'rooms-are-closed',
  says: 'Events of a room reach only sockets that have joined it and not left it; `room` and `notification` events only the member whose they are',
  source: 'gateway/PROTOCOL.md, what the server sends; docs/contract.md, section 4',
  watch(run, report) {
    /** When each client's connection left a room, acknowledged, by room. */
    const left = new Map<string, Map<number, number>>();
    /** When a leave by REST was last acknowledged, by room and member. */
    const taken = new Map<string, number>();
    /** Authors of articles. */
    const authors = new Map<number, number>();

    /** Whether the member takes part in a room; undefined if it is no room of the run. */
    const takesPart = (room: number, member: number) =>
      run.messages.rooms.get(room)?.members.some((no) => no === 0 || no === member);

    /** @returns why a socket that is in the room by no join must not get its events */
    function faultOf(client: string, room: number, member: number, t: number): string | undefined {
      const leftAt = left.get(client)?.get(room);
      if (leftAt !== undefined) return `has left it, acknowledged at ${at(leftAt)}`;
      const takenAt = taken.get(`${room} ${member}`);
      if (takenAt === undefined) return 'has not joined it over this connection';
      if (!run.disturbances.isSettled(takenAt, t, TAKEN_OUT_MS, AFTER_FAULTS_MS)) return undefined;
      return `was taken out of it by REST, acknowledged at ${at(takenAt)}`;
    }

    function checkRoom(delivery: Extract<Delivery, { room: number }>, subject?: number): void {
      const { client, room, event, member, t } = delivery;
      const shown = `${client} of member ${member} gets a ${event} event of room ${room}`;
      if (takesPart(room, member) === false) report(`${shown}, in which the member takes no part`);
      if (subject !== undefined && takesPart(room, subject) === false)
        report(`${shown} about member ${subject}, who takes no part in it`);
      if (run.views.of(room, client)) return;
      const fault = faultOf(client, room, member, t);
      if (fault) report(`${shown}, and ${fault}`);
    }

    function checkNotification({
      client,
      member,
      notification,
    }: Extract<Delivery, { notification: object }>) {
      const { type, url } = notification;
      const [, kind, no] = OF_URL.exec(url) ?? [];
      const author = authors.get(Number(no));
      const isForeign =
        kind === 'chat'
          ? takesPart(Number(no), member) === false
          : kind === 'board' && type !== 'recomment' && author !== undefined && author !== member;
      if (isForeign)
        report(`${client} of member ${member} gets the ${type} notification of ${url}, which is not theirs`);
    }

    return {
      header({ articles }) {
        for (const { article, author } of articles) authors.set(article, author);
      },
      answered({ t }, asked) {
        const { client, member, door } = asked;
        if (asked.f === 'connect') left.set(client, new Map());
        else if (asked.f === 'join') left.get(client)?.delete(asked.room);
        else if (asked.f === 'leave' && door !== 'socket') taken.set(`${asked.room} ${member}`, t);
        else if (asked.f === 'leave') left.get(client)?.set(asked.room, t);
      },
      delivered(delivery) {
        switch (delivery.event) {
          case 'message':
            checkRoom(delivery);
            break;
          case 'message:read':
            checkRoom(delivery, delivery.reader);
            break;
          case 'presence':
          case 'typing':
            checkRoom(delivery, delivery.who);
            break;
          case 'room': {
            const { client, member, state } = delivery;
            if (takesPart(state.room, member) === false)
              report(
                `${client} of member ${member} gets a room event of room ${state.room}, in which the member takes no part`,
              );
            break;
          }
          case 'notification':
            checkNotification(delivery);
        }
      },
    };
  },
};
