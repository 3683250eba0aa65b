/**
 * Every use of what Node and Koa do not document, in one place: docs/decisions/patched-internals.md says why, and
 * test/http/node-internals.test.ts fails when one of them changes.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/**
 * Stops accepting connections, and leaves those that exist open. The `close` of an HTTP server also resets idle
 * connections, and with them the requests on their way.
 *
 * @param onClosed called once every connection has closed
 */
export function stopAccepting(server: Server, onClosed: () => void): void {
  NetServer.prototype.close.call(server, onClosed);
}

/**
 * Bytes that the system has taken of what was written to a connection. `bytesWritten` also counts what waits in
 * the process, and `writableLength` counts a large chunk as a whole until its end.
 */
export function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    _handle?: { bytesWritten: number; writeQueueSize: number } | null;
  };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/**
 * Ends the answers of a closed connection that were queued behind the one being sent: Node closes that one only,
 * and they would never emit `close`.
 */
export function closeQueued(answers: Iterable<ServerResponse>): void {
  for (const res of answers) if (res.socket === null) res.destroy().emit('close');
}

/**
 * Releases what Koa and Node hold for as long as a stream is open: some 5 KiB. Koa keeps the context until the
 * response emits `end` (on-finished), to report what went wrong; a stream handles its own end. The headers have been read.
 */
export function detachFromKoa({ req, res }: { req: IncomingMessage; res: ServerResponse }): void {
  res.emit('end');
  req.headers = {};
  req.rawHeaders = [];
}
