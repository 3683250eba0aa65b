import { broadcastHere } from './deliveries.js';
import type { GatewaySocket } from './socket.js';

/** The packet type of an acknowledgement. (Socket.IO protocol, 5) */
const ACK = 3;

/** What Socket.IO calls for each event that wants an acknowledgement, to make the function that sends it. */
function createAck(this: GatewaySocket, id: number): (answer: object) => void {
  return (answer) => broadcastHere(this.nsp.adapter, this.id, { type: ACK, id, data: [answer] });
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
