import { nameOf } from '../facts/messages.js';
import { at, type Rule } from '../rule.js';

export const readMarks: Rule = {
  name: 'read-stays-read',
  says: 'Read positions only rise, and follow the message that they refer to',
  source: 'gateway/PROTOCOL.md, order and catching up; docs/contract.md, section 5',
  watch: (run, report) => ({
    saw({ seen, message, by, askedAt, client }) {
      // A push may be older than what others were shown; a read is not.
      if (by === 'push' || seen.readCount !== 1 || !message) return;
      if (message.readAt === undefined || message.readAt >= askedAt) return;
      report(
        `a ${by} by ${client}, asked at ${at(askedAt)}, shows ${nameOf(seen)} as unread; it was shown as read at ${at(message.readAt)}`,
      );
    },
    delivered(delivery) {
      if (delivery.event !== 'message:read') return;
      const { room, client, reader, seq } = delivery;
      const view = run.views.of(room, client);
      if (view?.state !== 'in' || view.joining > 0) return;
      const last = view.reads.get(reader) ?? 0;
      const shown = `${client} in room ${room} is told that member ${reader} has read up to ${seq}`;
      if (seq < last) report(`${shown}, and was told ${last} before`);
      else if (view.last !== undefined && seq > view.last) report(`${shown}, and shows up to ${view.last}`);
      view.reads.set(reader, Math.max(seq, last));
    },
  }),
};
