/**
 * All uses of undocumented parts of Node and Koa (docs/decisions/patched-internals.md);
 * test/http/node-internals.test.ts fails if one of them changes.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/**
 * Stops accepting connections, and leaves existing ones open. The `close` of an HTTP server also resets idle
 * connections, and with them requests under way.
 *
 * @param onClosed called once every connection has closed
 */
export function stopAccepting(server: Server, onClosed: () => void): void {
  NetServer.prototype.close.call(server, onClosed);
}

/**
 * Bytes written to a connection that the kernel has accepted. `bytesWritten` also counts those buffered in
 * the process, and `writableLength` counts a large chunk whole until its end.
 */
export function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    _handle?: { bytesWritten: number; writeQueueSize: number } | null;
  };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/**
 * Releases what Koa and Node hold for as long as a stream is open: some 5 KiB. Koa keeps the context until
 * the response emits `end` (on-finished), to report errors; a stream handles its own end. The headers have
 * been read.
 */
export function detachFromKoa({ req, res }: { req: IncomingMessage; res: ServerResponse }): void {
  res.emit('end');
  req.headers = {};
  req.rawHeaders = [];
}

/**
 * Releases the headers of an answer whose head has been written: Node keeps them beside the text that it has sent, some 1 KiB for as long
 * as a stream is open.
 */
export function releaseHeaders(res: ServerResponse): void {
  const kept = Object.getOwnPropertySymbols(res).find(({ description }) => description === 'kOutHeaders');
  if (kept) Object.assign(res, { [kept]: null });
}
