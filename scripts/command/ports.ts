import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Below the ephemeral ports (from 32,768 on Linux), which outgoing connections use. */
const [FIRST, LAST] = [20_000, 32_000];

/** Whether this process could bind a port exclusively. @throws Error naming HOST if it cannot be bound */
export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw new Error(`HOST: ${host}:${port} cannot be bound: ${(error as Error).message}`);
  }
  server.close();
  await once(server, 'close');
  return true;
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

/** A free loopback port. */
export async function freePort(): Promise<number> {
  const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
  return (await isFree('127.0.0.1', port)) ? port : freePort();
}
