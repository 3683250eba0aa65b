import { once } from 'node:events';
import { connect } from 'node:net';
import { portFault, tryPort } from '../../domain/platform/process/port-faults.js';
import { type Config, ConfigError } from '../../domain/platform/settings/config.js';

/** Below the ephemeral ports (from 32,768 on Linux), which outgoing connections use. */
const [FIRST, LAST] = [20_000, 32_000];

/** Whether this process could bind a port exclusively. @throws Error naming HOST if it cannot be bound */
async function isFree(host: string, port: number): Promise<boolean> {
  const error = await tryPort(host, port);
  if (error && error.code !== 'EADDRINUSE') throw new Error(portFault('port', host, port, error));
  return error === undefined;
}

/**
 * Checks that ports can be bound. (fault 50)
 * @throws ConfigError with a line for each that cannot
 */
export async function requirePorts(
  config: Config,
  names: readonly ('HTTP_PORT' | 'GATEWAY_PORT' | 'METRICS_PORT')[] = ['HTTP_PORT', 'GATEWAY_PORT'],
): Promise<void> {
  const { HOST } = config;
  const faults = await Promise.all(
    names.map(async (name) => {
      const port = config[name];
      const error = port === undefined ? undefined : await tryPort(HOST, port);
      return error ? [portFault(name, HOST, port ?? 0, error)] : [];
    }),
  );
  if (faults.flat().length > 0) throw new ConfigError([...new Set(faults.flat())]);
}

/** Whether a server accepts connections on a port. */
export async function isListening(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Processes that look for a port at the same time begin far from each other, and take none twice: a gateway shares its port
 * with whoever else binds it in the same way.
 */
let tried = process.pid * 997;

/** A free loopback port. */
export async function freePort(): Promise<number> {
  tried += 1;
  const port = FIRST + (tried % (LAST - FIRST));
  return (await isFree('127.0.0.1', port)) ? port : freePort();
}
