import { createServer, type Socket } from 'node:net';
import { Connection } from './connection.js';
import { openDataFolder } from './data-folder.js';
import { Engine } from './engine.js';
import { acquireLock, type Lock } from './lock.js';
import { LmdbStorage } from './storage.lmdb.js';
import { MemoryStorage } from './storage.memory.js';
import { removeExpired, TTL_INTERVAL_MS } from './ttl.js';

/** The database name in the connection strings this server gives. */
const DATABASE = 'adoption';
const MAX_CONNECTIONS = 2000;

export interface EmbeddedMongoOptions {
  /** Where `lmdb` storage keeps its folder `mongo`. */
  dataDir?: string;
  /** `lmdb` (durable) with a dataDir, otherwise `memory`. */
  storage?: 'lmdb' | 'memory';
  /** A loopback address; there are no users and no TLS, so no other is accepted. Default 127.0.0.1. */
  host?: string;
  /** 0, the default, takes a free port. */
  port?: number;
  /** Open cursors at once (1000). */
  maxCursors?: number;
  /** Milliseconds after which an unused cursor is closed (600,000). */
  cursorIdleMs?: number;
}

export interface EmbeddedMongo {
  uri: string;
  port: number;
  close(): Promise<void>;
}

/**
 * Starts the embedded database and resolves when it accepts connections.
 * Rejects with a readable message when the address is not loopback, the port is taken, the folder is in use by
 * another process or was written in another format.
 */
export async function startEmbeddedMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const host = options.host ?? '127.0.0.1';
  if (!/^(127(\.\d{1,3}){3}|::1|localhost)$/.test(host))
    throw new Error(`The embedded database listens on loopback addresses only, not on ${host}`);
  const storage = options.storage ?? (options.dataDir === undefined ? 'memory' : 'lmdb');
  let lock: Lock | undefined;
  let folder: string | undefined;
  if (storage === 'lmdb') {
    if (options.dataDir === undefined) throw new Error('lmdb storage needs a dataDir');
    folder = openDataFolder(options.dataDir);
    lock = await acquireLock(folder);
  }
  try {
    const engine = new Engine(folder === undefined ? new MemoryStorage() : new LmdbStorage(folder), {
      maxCursors: options.maxCursors ?? 1000,
      idleMs: options.cursorIdleMs ?? 600_000,
    });
    const server = await listen(engine, host, options.port ?? 0);
    const shownHost = host.includes(':') ? `[${host}]` : host;
    lock?.publish(server.port);
    return {
      uri: `mongodb://${shownHost}:${server.port}/${DATABASE}`,
      port: server.port,
      close: async () => {
        await server.close();
        await engine.close();
        lock?.release();
      },
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

async function listen(
  engine: Engine,
  host: string,
  port: number,
): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    new Connection(socket, engine, ++connections);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  // A connection that cannot be accepted (no file descriptor left) is that client's trouble alone.
  server.on('error', () => {});
  const expiry = setInterval(() => {
    void removeExpired(engine, Date.now(), (fault) => process.stderr.write(`embedded database: ${fault}\n`));
  }, TTL_INTERVAL_MS);
  expiry.unref();
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        clearInterval(expiry);
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
