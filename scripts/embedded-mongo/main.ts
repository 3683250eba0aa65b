import { parseArgs } from 'node:util';
import { type EmbeddedMongo, startEmbeddedMongo } from './server.js';

/**
 * The embedded database as a separate process: `main.js --data-dir DIR [--port N]`. With an IPC channel it
 * reports `{type: 'ready', uri}` or `{type: 'failed', message}`, and once its parent has died or
 * disconnected, it ends as soon as it has no users. Without a channel it runs until a signal.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { 'data-dir': { type: 'string' }, port: { type: 'string' } } });
  const dataDir = values['data-dir'];
  if (dataDir === undefined) throw new Error('usage: main.js --data-dir DIR [--port N]');
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && (!Number.isInteger(port) || port < 0 || port > 65_535))
    throw new Error(`--port ${values.port} is no port number`);
  // Its files and sockets are this user's alone.
  process.umask(0o077);
  const server = await startEmbeddedMongo({ dataDir, storage: 'lmdb', port });
  endWith(server);
  // The parent may have died meanwhile; others may be waiting for this database.
  process.send?.({ type: 'ready', uri: server.uri }, () => {});
  // pm2 waits for this text.
  process.send?.('ready', () => {});
}

/** Stops cleanly on a signal and, if another process started it, once it has no users. */
function endWith(server: EmbeddedMongo): void {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    void server.close().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Unlike the channel, `send` still exists if the parent died during the start.
  if (!process.send) return;
  const stopIfUnused = () => {
    if (!process.connected && !server.isUsed()) stop();
  };
  server.onLeave(stopIfUnused);
  process.on('disconnect', stopIfUnused);
  stopIfUnused();
}

// Logging to a full disk fails; the process must keep running to report the full disk to clients.
process.stderr.on('error', () => {});

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`embedded database: ${message}\n`);
  if (process.send) process.send({ type: 'failed', message }, () => process.exit(1));
  else process.exit(1);
});
