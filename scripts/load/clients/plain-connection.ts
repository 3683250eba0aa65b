import { messageFrame } from '../message-frame.js';
import type { OpenConnection } from './connection.js';
import { WebSocketClient } from './web-socket.js';

/**
 * A bare WebSocket, as nchan serves it: whoever listens has nothing but to be connected, whoever sends
 * does so on a path of its own and sends what is delivered as it is.
 */
export const openPlain: OpenConnection = (target, spec, events) =>
  new Promise((resolve, reject) => {
    let ready = false;
    const path = (spec.sender ? target.sendPath : target.path) ?? '/';
    const client = new WebSocketClient(target.host, target.port, path, {
      open() {
        ready = true;
        resolve({
          send: (text, count) => client.send(messageFrame(spec.room ?? 0, text, count)),
          cut: () => client.cut(),
        });
      },
      closed(reason) {
        if (ready) events.closed(reason);
        else reject(new Error(reason));
      },
      text(bytes, from, to) {
        // A publisher is told of each message how many it went to: its acknowledgement.
        if (spec.sender) events.answered(true);
        else events.heard(bytes, from, to);
      },
    });
  });
