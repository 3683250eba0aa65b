import type { GatewaySocket } from './socket.js';

/** The packet type of an acknowledgement. (Socket.IO protocol, 5) */
const ACK = 3;

/** Leaves nobody out, and stays in this process. */
const EXCEPT: ReadonlySet<string> = new Set();
const FLAGS = Object.freeze({ local: true });

/** What Socket.IO calls for each event that wants an acknowledgement, to make the function that sends it. */
function createAck(this: GatewaySocket, id: number): (answer: object) => void {
  let sent = false;
  return (answer) => {
    if (sent || !this.connected) return;
    sent = true;
    this.nsp.adapter.broadcast(
      { type: ACK, id, data: [answer] },
      { rooms: new Set([this.id]), except: EXCEPT as Set<string>, flags: FLAGS },
    );
  };
}

/**
 * Sends a connection's acknowledgements the way of what is published to its rooms: to the room of its own
 * id. uWebSockets.js then lets all of one turn of the event loop leave in one system call, a sender's
 * message, the room's new state and the acknowledgement; Socket.IO's direct send costs one for what was
 * published before and another for itself. (docs/performance.md)
 */
export function publishAcknowledgements(socket: GatewaySocket): void {
  Object.assign(socket, { ack: createAck });
}
