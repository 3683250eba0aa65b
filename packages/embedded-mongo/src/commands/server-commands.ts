import { Long } from 'bson';
import { MAX_DOCUMENT_BYTES, MAX_MESSAGE_BYTES } from '../values/bson-types.js';
import { typeMismatch } from '../values/errors.js';
import type { Command } from './command.js';
import { MAX_BATCH } from './write-commands.js';

/** The MongoDB release that is implemented. Wire version 21 is 7.0; with 25 clients would send bulkWrite. */
const SERVER_VERSION = '7.0.0';
const MAX_WIRE_VERSION = 21;

/** Without setName and msg drivers see a standalone: no retryable writes, no transactions, no streaming hello. */
const hello: Command = {
  run: ({ command }) => ({
    ...('hello' in command ? { isWritablePrimary: true } : { ismaster: true }),
    helloOk: true,
    maxBsonObjectSize: MAX_DOCUMENT_BYTES,
    maxMessageSizeBytes: MAX_MESSAGE_BYTES,
    maxWriteBatchSize: MAX_BATCH,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    minWireVersion: 0,
    maxWireVersion: MAX_WIRE_VERSION,
    readOnly: false,
    ok: 1,
  }),
};

const ok: Command = { fields: [], run: () => ({ ok: 1 }) };

const buildInfo: Command = {
  fields: [],
  run: () => ({
    version: SERVER_VERSION,
    versionArray: SERVER_VERSION.split('.').map(Number).concat(0),
    maxBsonObjectSize: MAX_DOCUMENT_BYTES,
    ok: 1,
  }),
};

const killCursors: Command = {
  fields: ['cursors'],
  run({ engine, command }) {
    const { cursors } = command;
    if (!Array.isArray(cursors) || !cursors.every((id) => id instanceof Long))
      throw typeMismatch("Field 'cursors' must be an array of cursor ids");
    const isKilled = cursors.map((id: Long) => engine.cursors.kill(id.toBigInt()));
    return {
      cursorsKilled: cursors.filter((_, i) => isKilled[i]),
      cursorsNotFound: cursors.filter((_, i) => !isKilled[i]),
      cursorsAlive: [],
      cursorsUnknown: [],
      ok: 1,
    };
  },
};

/** `collectionScans` lists the queries without an index; the total is where mongod has it. */
const serverStatus: Command = {
  run({ engine }) {
    const collectionScans = engine.catalog
      .all()
      .flatMap(({ namespace, collectionScans }) =>
        [...collectionScans].map(([query, count]) => ({ namespace, query, count })),
      );
    const total = collectionScans.reduce((sum, scan) => sum + scan.count, 0);
    return {
      version: SERVER_VERSION,
      pid: process.pid,
      metrics: {
        cursor: { open: { total: engine.cursors.size } },
        queryExecutor: { collectionScans: { total } },
      },
      embedded: { collectionScans },
      ok: 1,
    };
  },
};

export const serverCommands: Record<string, Command> = {
  hello,
  isMaster: hello,
  ismaster: hello,
  ping: ok,
  buildInfo,
  endSessions: ok,
  killCursors,
  serverStatus,
};
