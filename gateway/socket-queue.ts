import type { GatewaySocket } from './socket.js';

/**
 * Runs what a connection asks about rooms in the order it asked: a join waits for the database, and the
 * leave that a client sends right behind it must not overtake it.
 */
export function enqueue<T>(socket: GatewaySocket, task: () => Promise<T>): Promise<T> {
  const mine = (socket.data.turn ?? Promise.resolve()).then(task);
  // A task that fails has told its client so; the next one runs all the same.
  socket.data.turn = mine.then(
    () => undefined,
    () => undefined,
  );
  return mine;
}
