import { parseArgs } from 'node:util';
import { createLog } from './log.js';
import { type EmbeddedMongo, startEmbeddedMongo } from './server.js';

// Logging to a full disk fails; the process must keep running to report the full disk to clients.
process.stderr.on('error', () => {});
const logger = createLog(process.stderr);

/**
 * The embedded database as a separate process: `main.js --data-dir DIR [--port N] [--database NAME]`. With an IPC channel it
 * reports `{type: 'ready', uri}` or `{type: 'failed', message}`, and once its parent has died or
 * disconnected, it ends as soon as it has no users. Without a channel it runs until a signal.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { 'data-dir': { type: 'string' }, port: { type: 'string' }, database: { type: 'string' } },
  });
  const dataDir = values['data-dir'];
  if (dataDir === undefined) throw new Error('usage: main.js --data-dir DIR [--port N] [--database NAME]');
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && (!Number.isInteger(port) || port < 0 || port > 65_535))
    throw new Error(`--port ${values.port} is no port number`);
  // Its files and sockets are this user's alone.
  process.umask(0o077);
  logger.info({ dataDir }, 'starting');
  const server = await startEmbeddedMongo({ dataDir, storage: 'lmdb', port, database: values.database });
  if (server.wasCutOff)
    logger.warn('recovered: the process before ended without closing; every acknowledged write is there');
  logger.info({ uri: server.uri }, 'serving');
  endWith(server);
  server.onBroken((failure) => {
    logger.fatal(
      { err: failure },
      'a commit failed while its root page was written, and LMDB refuses to go on: ending. Everything acknowledged is on ' +
        'disk, and is served after the next start. Make room on the disk, or check it',
    );
    // At once: nothing more can be answered, and clients take a closed connection for a database that is away.
    process.exit(1);
  });
  // The parent may have died meanwhile; others may be waiting for this database.
  process.send?.({ type: 'ready', uri: server.uri }, () => {});
  // pm2 waits for this text.
  process.send?.('ready', () => {});
}

/** Stops cleanly on a signal and, if another process started it, once it has no users. */
function endWith(server: EmbeddedMongo): void {
  let stopping = false;
  const stop = (reason: string) => {
    if (stopping) return;
    stopping = true;
    logger.info({ reason }, 'stopping');
    void server.close().then(() => {
      logger.info('stopped');
      process.exit(0);
    });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Unlike the channel, `send` still exists if the parent died during the start.
  if (!process.send) return;
  const stopIfUnused = () => {
    if (!process.connected && !server.isUsed()) stop('nobody uses it');
  };
  server.onLeave(stopIfUnused);
  process.on('disconnect', stopIfUnused);
  stopIfUnused();
}

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  logger.fatal({ err: error }, 'cannot start');
  if (process.send) process.send({ type: 'failed', message }, () => process.exit(1));
  else process.exit(1);
});
