import { createRequire } from 'node:module';

/** The part of the driver's connection that is mended here. */
interface DriverConnection {
  closed: boolean;
  error: Error | null;
  once(event: 'close', listener: () => void): void;
  removeListener(event: 'close', listener: () => void): void;
  writeCommand(command: unknown, options: unknown): Promise<void>;
}

const mended = Symbol('writes to closed connections fail');

/**
 * Makes the driver's writes fail when their connection closes.
 *
 * The driver (seen in 7.8) encodes a command, writes it, and where the socket does not take it at once
 * waits for `drain`. When the connection is closed in between, as by a server that goes down, neither
 * `drain` nor `error` ever comes: the operation neither fails nor times out, `timeoutMS` included, and
 * whoever waits for it waits for ever: a request, a room's queue, a sweep.
 */
export function failWritesToClosedConnections(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('mongoose'));
  const { Connection } = require('mongodb/lib/cmap/connection.js') as {
    Connection: { prototype: DriverConnection & { [mended]?: true } };
  };
  const { prototype } = Connection;
  if (prototype[mended]) return;
  prototype[mended] = true;
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
