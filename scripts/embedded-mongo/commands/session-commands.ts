import { Long } from 'bson';
import { type Document, isDocument, MAX_DOCUMENT_BYTES } from '../values/bson-types.js';
import { CommandError, notServed } from '../values/errors.js';
import { MAX_MESSAGE_BYTES } from '../wire/messages.js';
import { booleanOption, type CommandHandler, cursorIdOf } from './command.js';

/** The MongoDB release whose behaviour is followed. Wire version 21 is 7.0; 25 would make clients send bulkWrite. */
const SERVER_VERSION = '7.0.0';
const MAX_WIRE_VERSION = 21;

/** Without setName and msg drivers see a standalone: no retryable writes, no transactions, no streaming hello. */
const hello: CommandHandler = (call) => ({
  ...('hello' in call.command ? { isWritablePrimary: true } : { ismaster: true }),
  helloOk: true,
  maxBsonObjectSize: MAX_DOCUMENT_BYTES,
  maxMessageSizeBytes: MAX_MESSAGE_BYTES,
  maxWriteBatchSize: 100_000,
  localTime: new Date(),
  logicalSessionTimeoutMinutes: 30,
  connectionId: call.connectionId,
  minWireVersion: 0,
  maxWireVersion: MAX_WIRE_VERSION,
  readOnly: false,
  ok: 1,
});

const buildInfo: CommandHandler = () => ({
  version: SERVER_VERSION,
  versionArray: [7, 0, 0, 0],
  maxBsonObjectSize: MAX_DOCUMENT_BYTES,
  ok: 1,
});

const ok: CommandHandler = () => ({ ok: 1 });

const killCursors: CommandHandler = (call) => {
  const cursors = call.command.cursors;
  if (!Array.isArray(cursors)) throw new CommandError(14, "Field 'cursors' must be an array");
  const killed: Long[] = [];
  const notFound: Long[] = [];
  for (const cursor of cursors) {
    const id = cursorIdOf(cursor);
    (call.engine.cursors.kill(id) ? killed : notFound).push(Long.fromBigInt(id));
  }
  return { cursorsKilled: killed, cursorsNotFound: notFound, cursorsAlive: [], cursorsUnknown: [], ok: 1 };
};

const connectionStatus: CommandHandler = ({ command }) => ({
  authInfo: {
    authenticatedUsers: [],
    authenticatedUserRoles: [],
    ...(booleanOption(command.showPrivileges, 'showPrivileges') ? { authenticatedUserPrivileges: [] } : {}),
  },
  ok: 1,
});

/** `collectionScans` lists the queries that no index served; the total stands where mongod has it. */
const serverStatus: CommandHandler = ({ engine }) => {
  const collectionScans = engine.catalog
    .all()
    .flatMap(({ namespace, collectionScans }) =>
      [...collectionScans].map(([query, count]) => ({ namespace, query, count })),
    );
  const total = collectionScans.reduce((sum, scan) => sum + scan.count, 0);
  return {
    host: 'embedded',
    version: SERVER_VERSION,
    process: 'embedded-mongo',
    pid: process.pid,
    uptime: process.uptime(),
    localTime: new Date(),
    mem: { resident: Math.round(process.memoryUsage.rss() / 1048576) },
    metrics: {
      cursor: { open: { total: engine.cursors.size } },
      queryExecutor: { collectionScans: { total, nonTailable: total } },
    },
    embedded: { collectionScans },
    ok: 1,
  };
};

const getParameter: CommandHandler = (call) => {
  const known: Document = { featureCompatibilityVersion: { version: '7.0' } };
  const found = Object.keys(call.command).filter((name) => Object.hasOwn(known, name));
  if (found.length === 0) throw new CommandError(72, 'no option found to get');
  return { ...Object.fromEntries(found.map((name) => [name, known[name]])), ok: 1 };
};

/** What a server that is no replica set answers. */
const noReplication: CommandHandler = () => {
  throw new CommandError(76, 'not running with --replSet');
};

const noTransaction: CommandHandler = () => {
  throw new CommandError(20, 'Transaction numbers are only allowed on a replica set member or mongos');
};

const noAuthentication: CommandHandler = (call) => {
  const mechanism = isDocument(call.command) ? call.command.mechanism : undefined;
  throw new CommandError(
    18,
    `Authentication failed: the embedded database has no users${mechanism ? ` (${String(mechanism)})` : ''}`,
  );
};

const noScripts: CommandHandler = (call) => {
  throw notServed(`${Object.keys(call.command)[0]} (server-side JavaScript)`);
};

export const sessionCommands: Record<string, CommandHandler> = {
  hello,
  isMaster: hello,
  ismaster: hello,
  ping: ok,
  buildInfo,
  buildinfo: buildInfo,
  endSessions: ok,
  refreshSessions: ok,
  startSession: ok,
  logout: ok,
  killCursors,
  connectionStatus,
  serverStatus,
  getParameter,
  whatsmyuri: () => ({ you: '127.0.0.1:0', ok: 1 }),
  replSetGetStatus: noReplication,
  replSetGetConfig: noReplication,
  replSetInitiate: noReplication,
  commitTransaction: noTransaction,
  abortTransaction: noTransaction,
  saslStart: noAuthentication,
  saslContinue: noAuthentication,
  authenticate: noAuthentication,
  createUser: noAuthentication,
  mapReduce: noScripts,
  mapreduce: noScripts,
  eval: noScripts,
  $eval: noScripts,
};
