import { SerialQueue } from '../domain/platform/serial-queue.js';
import type { GatewaySocket } from './socket.js';

/** Runs a connection's joins and leaves in the order they were sent: a leave must not overtake the join before it. */
export function enqueue<T>(socket: GatewaySocket, task: () => Promise<T>): Promise<T> {
  socket.data.queue ??= new SerialQueue();
  return socket.data.queue.add(task);
}
