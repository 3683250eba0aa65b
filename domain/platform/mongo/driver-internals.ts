/** All changes to the MongoDB driver. Reasons, figures and exits: docs/decisions/patched-internals.md. */
import { createRequire } from 'node:module';

/** What is used of the driver's internal class. */
interface DriverConnection {
  error: Error | null;
  once(event: 'close', listener: () => void): void;
  removeListener(event: 'close', listener: () => void): void;
  writeCommand(command: unknown, options: unknown): Promise<void>;
}

const patched = Symbol('patched');

/**
 * Makes the driver's writes fail when their connection closes.
 *
 * The driver (7.8) writes a command and, if the socket's buffer is full, waits for `drain`. If the connection
 * closes meanwhile, neither `drain` nor `error` is emitted: the operation never ends, whatever its time-outs,
 * and blocks a request, a room's queue or a sweep.
 */
export function failWritesToClosedConnections(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('mongoose'));
  const { Connection } = require('mongodb/lib/cmap/connection.js') as {
    Connection: { prototype: DriverConnection & { [patched]?: true } };
  };
  const { prototype } = Connection;
  if (prototype[patched]) return;
  prototype[patched] = true;
  const { writeCommand } = prototype;
  prototype.writeCommand = async function (command, options) {
    let onClose = () => {};
    const closed = new Promise<never>((_, reject) => {
      onClose = () => reject(this.error ?? new Error('the connection was closed'));
      this.once('close', onClose);
    });
    try {
      await Promise.race([writeCommand.call(this, command, options), closed]);
    } finally {
      this.removeListener('close', onClose);
    }
  };
}
