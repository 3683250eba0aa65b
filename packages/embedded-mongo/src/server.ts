import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { Engine } from './commands/engine.js';
import { folderError, isMarked, makeDataFolder, mark, socketFile, socketUri } from './folder/data-folder.js';
import { type Lock, takeFolder } from './folder/lock.js';
import { socketPath } from './folder/unix-socket.js';
import { LmdbStorage } from './storage/storage.lmdb.js';
import { MemoryStorage } from './storage/storage.memory.js';
import { removeUnfinishedStore } from './storage/unfinished-store.js';
import { serveClient } from './wire/connection.js';

const MAX_CONNECTIONS = 2000;

/** As of MongoDB's own tools. */
export const DEFAULT_DATABASE = 'test';

/** Without users and TLS, no other address is safe. */
const HOST = '127.0.0.1';

/**
 * In memory, or durable in the folder `mongo` of a data folder. Port 0 picks a free one. `database` is the one that clients of
 * the connection string use unless they name another: `test` by default.
 */
export type EmbeddedMongoOptions = { database?: string | undefined } & (
  | { storage: 'memory'; port?: number }
  /** Without a port it listens on the folder's socket only. */
  | { storage: 'lmdb'; dataDir: string; port?: number | undefined }
);

export interface EmbeddedMongo {
  /** The TCP address if there is one, otherwise that of the folder's socket. */
  uri: string;
  /** 0 without a TCP port. */
  port: number;
  /** Whether the process that served the folder before did not close it: it was killed, or the machine stopped. */
  wasCutOff: boolean;
  /** Whether a process uses the folder or a client is connected. */
  isUsed(): boolean;
  /** @param callback called whenever one of them has left */
  onLeave(callback: () => void): void;
  /** @param callback called when the store is of no use until it is opened again: see `Storage.onBroken` */
  onBroken(callback: (failure: Error) => void): void;
  close(): Promise<void>;
}

/**
 * Starts the embedded database and resolves when it accepts connections. Rejects with a readable message if
 * the port is taken, or the folder is in use by another process or has another format.
 */
export async function startEmbeddedMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const folder = options.storage === 'lmdb' ? makeDataFolder(options.dataDir) : undefined;
  const clients = new Clients();
  let lock: Lock | undefined;
  let engine: Engine | undefined;
  const close = async () => {
    lock?.withdraw();
    await clients.close();
    await engine?.close();
    lock?.release();
  };
  try {
    if (folder !== undefined) lock = await takeFolder(folder);
    // Closing removes it.
    const wasCutOff = folder !== undefined && existsSync(socketFile(folder));
    const opened = await openEngine(folder);
    engine = opened;
    const address = await listen(clients, opened, folder, options);
    lock?.publish();
    return {
      ...address,
      wasCutOff,
      isUsed: () => clients.count + (lock?.holders() ?? 0) > 0,
      onLeave(callback) {
        clients.onLeave = callback;
        if (lock) lock.onLeave = callback;
      },
      onBroken(callback) {
        opened.storage.onBroken = callback;
      },
      close,
    };
  } catch (error) {
    await close();
    throw folder === undefined ? error : folderError(folder, error);
  }
}

/** Listens on the folder's socket, and on a port if one is wanted or there is no folder. */
async function listen(
  clients: Clients,
  engine: Engine,
  folder: string | undefined,
  { port: wanted, database = DEFAULT_DATABASE }: EmbeddedMongoOptions,
): Promise<{ uri: string; port: number }> {
  if (folder !== undefined) {
    // Left by a dead process: only the owner of the folder listens there.
    rmSync(socketFile(folder), { force: true });
    await clients.listen(engine, { path: socketPath(socketFile(folder)) });
    if (wanted === undefined) return { uri: socketUri(folder, database), port: 0 };
  }
  const server = await clients.listen(engine, { host: HOST, port: wanted ?? 0 });
  const { port } = server.address() as AddressInfo;
  return { uri: `mongodb://${HOST}:${port}/${database}`, port };
}

async function openEngine(folder: string | undefined): Promise<Engine> {
  if (folder === undefined) return new Engine(new MemoryStorage());
  const marked = isMarked(folder);
  if (!marked) removeUnfinishedStore(folder);
  const storage = new LmdbStorage(folder);
  try {
    if (!marked) mark(folder, storage);
    return new Engine(storage);
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** The connections of all clients, over however many addresses. */
class Clients {
  onLeave = () => {};
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  get count(): number {
    return this.#sockets.size;
  }

  /** Accepts connections on one more address. */
  async listen(engine: Engine, address: ListenOptions): Promise<Server> {
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.onLeave();
      });
      serveClient(socket, engine);
    });
    server.maxConnections = MAX_CONNECTIONS;
    await once(server.listen(address), 'listening');
    this.#servers.push(server);
    // A connection that cannot be accepted (no file descriptor left) concerns that client only.
    server.on('error', () => {});
    return server;
  }

  /** Accepts no more connections and closes the open ones. */
  async close(): Promise<void> {
    this.onLeave = () => {};
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }
}
