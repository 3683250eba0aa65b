import { parseArgs } from 'node:util';
import { type EmbeddedMongo, startEmbeddedMongo } from './server.js';

/**
 * The embedded database as a process of its own: `main.js --data-dir DIR [--port N]`.
 * With an IPC channel it reports `{type: 'ready', uri}` or `{type: 'failed', message}` and ends with its parent.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { 'data-dir': { type: 'string' }, port: { type: 'string' } } });
  const dataDir = values['data-dir'];
  if (dataDir === undefined) throw new Error('usage: main.js --data-dir DIR [--port N]');
  const port = Number(values.port ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port ${values.port} is no port number`);
  const server = await startEmbeddedMongo({ dataDir, storage: 'lmdb', port });
  endWith(server);
  process.send?.({ type: 'ready', uri: server.uri });
}

/** Stops cleanly on a signal and when the parent is gone, however it went. */
function endWith(server: EmbeddedMongo): void {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    void server.close().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  if (process.channel) {
    process.on('disconnect', stop);
    // The parent may have died before this listener was there.
    if (!process.connected) stop();
  }
}

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`embedded database: ${message}\n`);
  if (process.send) process.send({ type: 'failed', message }, () => process.exit(1));
  else process.exit(1);
});
