import { deserialize, serialize } from 'bson';
import { dispatch } from '../../src/commands/dispatch.js';
import { Engine } from '../../src/commands/engine.js';
import type { Storage } from '../../src/storage/storage.js';
import { MemoryStorage } from '../../src/storage/storage.memory.js';
import { type Document, decode } from '../../src/values/bson-types.js';
import { encodeReply, HEADER_BYTES } from '../../src/wire/messages.js';

/** An engine in this process, without a port: commands go through BSON both ways, as over a socket. */
export function buildEngine(storage: Storage = new MemoryStorage()): Engine {
  return new Engine(storage);
}

/** A failed command, as the client would see it. */
export class CommandFailure extends Error {
  readonly reply: Document;

  constructor(reply: Document) {
    super(String(reply.errmsg));
    this.reply = reply;
  }
}

/** Runs a command and returns its reply, decoded by `read`. Throws CommandFailure when `ok` is 0. */
export async function runCommand(
  engine: Engine,
  command: Document,
  database = 'test',
  read: (body: Uint8Array) => Document = deserialize,
): Promise<Document> {
  const request = {
    requestId: 1,
    legacy: false,
    wantsReply: true,
    database,
    command: decode(serialize(command, { ignoreUndefined: true })),
    sequences: new Map(),
  };
  const reply = encodeReply(request, await dispatch({ engine, ...request }));
  const body = read(reply.subarray(HEADER_BYTES + 5));
  if (Number(body.ok) !== 1) throw new CommandFailure(body);
  return body;
}

/** The documents of a find, all in one batch. */
export async function find(engine: Engine, collection: string, command: Document): Promise<Document[]> {
  const reply = await runCommand(engine, { find: collection, batchSize: 100_000, ...command });
  return (reply.cursor as { firstBatch: Document[] }).firstBatch;
}

/** The reply of a command that fails as a whole, or its first write error; the reply where it does not fail. */
export async function failureOf(engine: Engine, command: Document): Promise<Document> {
  const reply = await runCommand(engine, command).catch((error) => {
    if (error instanceof CommandFailure) return error.reply;
    throw error;
  });
  return (reply.writeErrors as Document[] | undefined)?.[0] ?? reply;
}

/** How many documents match, as the driver's countDocuments asks. */
export async function count(
  engine: Engine,
  collection: string,
  filter: Document = {},
  stages: Document[] = [],
): Promise<number> {
  const pipeline = [{ $match: filter }, ...stages, { $group: { _id: 1, n: { $sum: 1 } } }];
  const reply = await runCommand(engine, { aggregate: collection, pipeline, cursor: {} });
  const [result] = (reply.cursor as { firstBatch: Document[] }).firstBatch;
  return Number(result?.n ?? 0);
}

/** The results of a pipeline with their BSON number types, or the code it is refused with. */
async function aggregate(engine: Engine, pipeline: Document[], collection = 'c'): Promise<unknown> {
  const reply = await runCommand(engine, { aggregate: collection, pipeline, cursor: {} }, 'test', (body) =>
    deserialize(body, { promoteValues: false }),
  ).catch((error: CommandFailure) => error);
  if (reply instanceof CommandFailure) return Number(reply.reply.code);
  return (reply.cursor as { firstBatch: Document[] }).firstBatch;
}

/** A fresh engine for each test of a describe, and the functions above bound to it. */
export function useEngine() {
  let engine: Engine;
  beforeEach(() => {
    engine = buildEngine();
  });
  afterEach(() => engine.close());
  const bind =
    <A extends unknown[], R>(run: (engine: Engine, ...args: A) => R) =>
    (...args: A): R =>
      run(engine, ...args);
  return {
    engine: () => engine,
    run: bind(runCommand),
    find: bind(find),
    count: bind(count),
    failureOf: bind(failureOf),
    aggregate: bind(aggregate),
  };
}
