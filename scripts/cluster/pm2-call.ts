import { join } from 'node:path';
import { connectTo } from 'embedded-mongo/unix-socket';

/** First byte of a message to the daemon: version 1, two parts. */
const HEAD = 0x12;

/** Bytes before a part: its length. */
const LENGTH = 4;

/** The first part of a message, without its type (`j:`, JSON). @returns undefined while it is incomplete */
function readFirst(message: Buffer): string | undefined {
  if (message.length < 1 + LENGTH) return undefined;
  const start = 1 + LENGTH;
  const end = start + message.readUInt32BE(1);
  return message.length < end ? undefined : message.toString('utf8', start + 2, end);
}

/**
 * Calls a method of pm2's daemon on its socket, as pm2's program does. To start that program costs 0.1 s of CPU time;
 * and it hands over the id of a process as a text, and then waits for `listen_timeout` although the new process is ready.
 * @param signal ends the wait for its answer
 * @returns the daemon's answer
 * @throws Error with the daemon's reason
 */
export async function callDaemon(
  home: string,
  method: string,
  argument: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const socket = await connectTo(join(home, 'rpc.sock'));
  if (!socket) throw new Error(`pm2 of ${home} does not answer`);
  const parts = [`j:${JSON.stringify({ type: 'call', method, args: [argument] })}`, 's:1'].flatMap((part) => {
    const length = Buffer.alloc(LENGTH);
    length.writeUInt32BE(Buffer.byteLength(part));
    return [length, Buffer.from(part)];
  });
  signal?.addEventListener('abort', () => socket.destroy());
  socket.write(Buffer.concat([Buffer.of(HEAD), ...parts]));
  let received = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      const reply = readFirst(received);
      if (reply === undefined) continue;
      const { error, args = [] } = JSON.parse(reply) as { error?: string; args?: unknown[] };
      if (error) throw new Error(error);
      return args[0];
    }
    throw new Error(`pm2 of ${home} has ended`);
  } finally {
    socket.destroy();
  }
}
