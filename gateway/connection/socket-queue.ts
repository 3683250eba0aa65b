import { SerialQueue } from '../../domain/platform/async/serial-queue.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { GatewaySocket } from './socket.js';

/** Joins and leaves of all connections that have not ended. */
let unfinished = 0;
metrics.queueLength.watch(() => unfinished, { queue: 'joins' });

/** Runs a connection's joins and leaves in the order they were sent: a leave must not overtake the join before it. */
export function enqueue<T>(socket: GatewaySocket, task: () => Promise<T>): Promise<T> {
  const queue = socket.data.queue ?? new SerialQueue();
  socket.data.queue = queue;
  unfinished += 1;
  return queue.add(task).finally(() => {
    unfinished -= 1;
    if (queue.isIdle) socket.data.queue = undefined;
  });
}
