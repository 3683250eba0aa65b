import { eventFrame, messageJson } from '../messages.js';
import type { OpenConnection } from './connection.js';
import { WebSocketClient } from './web-socket.js';

/** A bare WebSocket, as nchan serves it: subscribers and publishers use different paths. */
export const openPlain: OpenConnection = (target, { room = 0, sender, session }, events) => {
  const path = (sender ? target.sendPath : target.path) ?? '/';
  const client = new WebSocketClient(
    target,
    session ? `${path}&last_event_id=${session.offset}` : path,
    {
      open: events.ready,
      // nchan answers each message of a publisher with the number of its recipients.
      text: sender ? () => events.acknowledged(true) : events.delivered,
      closed: events.closed,
    },
    sender ? undefined : target.protocol,
  );
  return {
    send: (text, count) => client.send(eventFrame('message', messageJson(room, text, count))),
    cut: () => client.cut(),
  };
};
