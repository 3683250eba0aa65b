/** All changes to the MongoDB driver. Reasons, figures and exits: docs/decisions/patched-internals.md. */
import { createRequire } from 'node:module';
import { metrics, secondsSince } from '../observe/metrics.js';
import { step } from '../observe/tracing.js';

/** What is used of the driver's internal class. */
interface DriverConnection {
  error: Error | null;
  once(event: 'close', listener: () => void): void;
  removeListener(event: 'close', listener: () => void): void;
  writeCommand(command: unknown, options: unknown): Promise<void>;
  command(ns: unknown, command: object, ...rest: unknown[]): Promise<unknown>;
}

type Prototype = DriverConnection & { [patched]?: true };

const patched = Symbol('patched');

/** Changes the driver's connections, once per process. */
export function changeDriver(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('mongoose'));
  const { Connection } = require('mongodb/lib/cmap/connection.js') as {
    Connection: { prototype: Prototype };
  };
  const { prototype } = Connection;
  if (prototype[patched]) return;
  prototype[patched] = true;
  failWritesToClosedConnections(prototype);
  measureCommands(prototype);
}

/**
 * Makes the driver's writes fail when their connection closes.
 *
 * The driver (7.8) writes a command and, if the socket's buffer is full, waits for `drain`. If the connection
 * closes meanwhile, neither `drain` nor `error` is emitted: the operation never ends, whatever its time-outs,
 * and blocks a request, a room's queue or a sweep.
 */
function failWritesToClosedConnections(prototype: Prototype): void {
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

/** What the driver does by itself, to watch servers and end sessions. */
const OWN_COMMANDS = new Set(['hello', 'ismaster', 'isMaster', 'endSessions']);

/**
 * Measures each command. The driver's own monitoring (`monitorCommands`) decodes every answer a second time, and
 * makes two events of every command.
 */
function measureCommands(prototype: Prototype): void {
  const { command: send } = prototype;
  let running = 0;
  metrics.queueLength.watch(() => running, { queue: 'database' });
  prototype.command = function (ns, command, ...rest) {
    const [name = ''] = Object.keys(command);
    if (OWN_COMMANDS.has(name)) return send.call(this, ns, command, ...rest);
    const answer = step('client', `mongodb ${name}`, { 'db.system.name': 'mongodb' }, () =>
      send.call(this, ns, command, ...rest),
    );
    const sentAt = performance.now();
    running += 1;
    const end = (outcome: string) => {
      running -= 1;
      metrics.databaseOperations.observe({ command: name, outcome }, secondsSince(sentAt));
    };
    answer.then(
      () => end('ok'),
      () => end('failed'),
    );
    return answer;
  };
}
