import { SerialQueue } from '../domain/platform/serial-queue.js';
import type { GatewaySocket } from './socket.js';

/**
 * Runs what a connection asks about rooms in the order it asked: a join waits for the database, and the
 * leave that a client sends right behind it must not overtake it.
 */
export function enqueue<T>(socket: GatewaySocket, task: () => Promise<T>): Promise<T> {
  socket.data.queue ??= new SerialQueue();
  return socket.data.queue.add(task);
}
