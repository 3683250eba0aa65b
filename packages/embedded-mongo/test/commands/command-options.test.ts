import { Long, serialize } from 'bson';
import { expect } from 'chai';
import type { Reply } from '../../src/commands/command.js';
import { dispatch } from '../../src/commands/dispatch.js';
import type { Engine } from '../../src/commands/engine.js';
import type { Document } from '../../src/values/bson-types.js';
import { buildEngine, failureOf, find, runCommand } from '../support/run-command.js';

/** Every command that is served and does not take any field whatever, in a form that works. */
const COMMANDS: Document[] = [
  { find: 'c' },
  { getMore: Long.fromNumber(1), collection: 'c' },
  { count: 'c' },
  { distinct: 'c', key: 'a' },
  { aggregate: 'c', pipeline: [], cursor: {} },
  { insert: 'c', documents: [{}] },
  { update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } } }] },
  { delete: 'c', deletes: [{ q: {}, limit: 1 }] },
  { findAndModify: 'c', remove: true },
  { create: 'd' },
  { drop: 'c' },
  { dropDatabase: 1 },
  { listCollections: 1, cursor: {} },
  { listIndexes: 'c', cursor: {} },
  { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }] },
  { dropIndexes: 'c', index: '*' },
  { killCursors: 'c', cursors: [] },
  { ping: 1 },
  { buildInfo: 1 },
  { endSessions: [] },
];

const nameOf = (command: Document) => Object.keys(command)[0] as string;

/** What a command is refused for: its code, and what the text says. */
const refused: [command: Document, code: number, text: string][] = [
  ...[
    'nope',
    'constructor',
    '__defineGetter__',
    'explain',
    'listDatabases',
    'mapReduce',
    'saslStart',
    'bulkWrite',
  ].map((name): [Document, number, string] => [{ [name]: 'c' }, 59, `no such command: '${name}'`]),
  [{}, 59, "no such command: ''"],
  [{ find: 'c', collation: { locale: 'ko' } }, 238, "the field 'collation' of find"],
  [{ insert: 'c', documents: [{}], maxTimeMS: 5 }, 238, "the field 'maxTimeMS' of insert"],
  [{ find: 'c', maxTimeMS: -1 }, 51024, "'maxTimeMS' value must be >= 0"],
  [{ find: 'c', maxTimeMS: 'x' }, 14, "'maxTimeMS' must be a number"],
  [{ find: 'c', hint: 'a' }, 238, "the field 'hint' of find"],
  [{ insert: 'c', documents: [{}], txnNumber: Long.ONE }, 238, "the field 'txnNumber' of insert"],
  [{ create: 'd', capped: true }, 238, "the field 'capped' of create"],
  [
    { update: 'c', updates: [{ q: {}, u: {}, arrayFilters: [] }] },
    238,
    "the field 'arrayFilters' of updates",
  ],
  [{ delete: 'c', deletes: [{ q: {}, limit: 1, hint: 'a' }] }, 238, "the field 'hint' of deletes"],
  [{ aggregate: 'c', pipeline: [], cursor: { nonsense: 1 } }, 238, "the field 'nonsense' of cursor"],
  [{ listIndexes: 'c', cursor: { nonsense: 1 } }, 238, "the field 'nonsense' of cursor"],
  [{ aggregate: 'c', pipeline: [] }, 9, "'cursor' option is required"],
  [{ aggregate: 'c', pipeline: {}, cursor: {} }, 14, 'array'],
  [{ find: 'c', readConcern: { level: 'snapshot' } }, 238, "read concern 'snapshot'"],
  [{ find: 'c', readConcern: { level: 'linearizable' } }, 238, "read concern 'linearizable'"],
  ...[2, 'dc1', { dc1: 1 }].map((w): [Document, number, string] => [
    { insert: 'e', documents: [{}], writeConcern: { w } },
    238,
    'without a replica set',
  ]),
  [{ find: 5 }, 73, 'invalid type number'],
  [{ find: '' }, 73, 'collection name'],
  ...['a$b', 'a\0b', '.a', 'system.users', 'x'.repeat(201)].map((name): [Document, number, string] => [
    { create: name },
    73,
    `Invalid collection name: 'test.${name}'`,
  ]),
  [{ insert: 'c', documents: [] }, 16, 'between 1 and 100000. Got 0'],
  [{ insert: 'c' }, 40414, "'documents'"],
  [{ update: 'c', updates: {} }, 40414, "'updates'"],
  [{ delete: 'c', deletes: [1] }, 40414, "'deletes'"],
  [{ insert: 'c', documents: [{}], ordered: 'x' }, 14, "'ordered' must be a boolean, not string"],
  [{ insert: 'c', documents: [{ _id: [1] }] }, 53, '_id'],
  [{ insert: 'c', documents: [{ _id: /x/ }] }, 53, '_id'],
  [{ insert: 'c', documents: [{ _id: { $a: 1 } }] }, 52, '$a'],
  [{ insert: 'c', documents: [{ a: 1, _id: { $a: 1 } }] }, 52, '$a'],
  [{ update: 'c', updates: [{ q: 1, u: {} }] }, 9, 'filter'],
  [{ update: 'c', updates: [{ q: {}, u: { a: 1 }, multi: true }] }, 9, 'replacement'],
  [{ update: 'c', updates: [{ q: {}, u: {}, multi: 'x' }] }, 14, "'multi'"],
  [{ update: 'c', updates: [{ q: {}, u: {}, upsert: 'x' }] }, 14, "'upsert'"],
  [{ delete: 'c', deletes: [{ q: {}, limit: 2 }] }, 9, 'Got 2'],
  [{ delete: 'c', deletes: [{ q: {} }] }, 9, 'limit'],
  [{ findAndModify: 'c' }, 9, 'Either an update or remove=true'],
  [{ findAndModify: 'c', remove: true, update: {} }, 9, 'Either an update or remove=true'],
  [{ findAndModify: 'c', remove: true, new: true }, 9, 'with remove=true'],
  [{ findAndModify: 'c', remove: true, upsert: true }, 9, 'with remove=true'],
  [{ distinct: 'c', key: 1 }, 14, "'key'"],
  [{ getMore: 5, collection: 'c' }, 14, 'cursor id'],
  [{ getMore: Long.fromNumber(5), collection: 1 }, 14, "'collection'"],
  [{ getMore: Long.fromNumber(5), collection: 'c' }, 43, '5 not found'],
  [{ killCursors: 'c', cursors: 1 }, 14, "'cursors'"],
  [{ killCursors: 'c', cursors: [1] }, 14, "'cursors'"],
  [{ listIndexes: 'none', cursor: {} }, 26, 'test.none'],
  [{ dropIndexes: 'none', index: '*' }, 26, 'test.none'],
  [{ dropIndexes: 'c', index: 'none' }, 27, '[none]'],
  [{ dropIndexes: 'c', index: '_id_' }, 72, '_id'],
  [{ dropIndexes: 'c', index: { toString: 1 } }, 238, 'dropIndexes'],
  [{ update: 'c', updates: [{ q: {}, u: { $inc: { a: { toString: 1 } } } }] }, 14, 'of type object'],
  [{ delete: 'c', deletes: [{ q: { a: { $regex: { toString: 1 } } }, limit: 1 }] }, 238, '/object/'],
  [{ createIndexes: 'c', indexes: [] }, 2, 'at least one index'],
  [{ createIndexes: 'c', indexes: { a: 1 } }, 2, 'at least one index'],
];

describe('embedded database: options of commands', () => {
  let engine: Engine;
  beforeEach(async () => {
    engine = buildEngine();
    await runCommand(engine, { insert: 'c', documents: [{ _id: 1, a: 0 }] });
  });
  afterEach(() => engine.close());

  const isUntouched = async () => {
    expect(await find(engine, 'c', {})).to.deep.equal([{ _id: 1, a: 0 }]);
    const { cursor } = await runCommand(engine, { listIndexes: 'c', cursor: {} });
    expect((cursor as { firstBatch: Document[] }).firstBatch).to.have.lengthOf(1);
    expect(engine.catalog.all().map(({ name }) => name)).to.deep.equal(['c']);
  };

  for (const command of COMMANDS)
    it(`an unknown field of ${nameOf(command)}: 238, by name, and nothing is done`, async () => {
      const reply = await failureOf(engine, { ...command, nonsense: 1 });
      expect(reply).to.deep.include({
        code: 238,
        codeName: 'NotImplemented',
        errmsg: `the field 'nonsense' of ${nameOf(command)} is not served by the embedded database`,
      });
      await isUntouched();
    });

  it('what drivers add by themselves is known to every command', async () => {
    const generic = {
      ...{ lsid: { id: 1 }, $readPreference: { mode: 'primary' }, comment: 'x', $db: 'test' },
      ...{ readConcern: { level: 'majority' }, writeConcern: { w: 'majority', j: true } },
    };
    for (const command of COMMANDS.filter((one) => !('getMore' in one))) {
      await runCommand(engine, { insert: 'c', documents: [{}] });
      expect(await runCommand(engine, { ...command, ...generic }), JSON.stringify(command)).to.include({
        ok: 1,
      });
    }
  });

  it('the handshake takes any: drivers add fields of their own', async () => {
    for (const name of ['hello', 'isMaster', 'ismaster'])
      expect(await runCommand(engine, { [name]: 1, nonsense: 1 })).to.include({ ok: 1 });
  });

  for (const [command, code, text] of refused)
    it(`${JSON.stringify(command).slice(0, 120)}: ${code}`, async () => {
      const reply = await failureOf(engine, command);
      expect(reply).to.include({ code });
      expect(reply.errmsg).to.contain(text);
      await isUntouched();
    });

  it('write and read concerns that one server meets change nothing', async () => {
    for (const w of [0, 1, Long.fromNumber(1), 'majority', undefined])
      await runCommand(engine, { insert: 'e', documents: [{}], writeConcern: { w } });
    expect(await find(engine, 'e', { readConcern: { level: 'available' } })).to.have.lengthOf(5);
    expect(await find(engine, 'e', { readConcern: {} })).to.have.lengthOf(5);
  });

  it('a collection has up to 64 indexes', async () => {
    const indexes = Array.from({ length: 63 }, (_, i) => ({ key: { [`f${i}`]: 1 } }));
    expect(await runCommand(engine, { createIndexes: 'e', indexes })).to.deep.equal({
      ...{ numIndexesBefore: 1, numIndexesAfter: 64, createdCollectionAutomatically: true, ok: 1 },
    });
    expect(await runCommand(engine, { createIndexes: 'e', indexes })).to.deep.equal({
      ...{ numIndexesBefore: 64, numIndexesAfter: 64, createdCollectionAutomatically: false, ok: 1 },
    });
    expect(await runCommand(engine, { dropIndexes: 'e', index: 'f7_1' })).to.deep.equal({
      nIndexesWas: 64,
      ok: 1,
    });
    expect(await runCommand(engine, { dropIndexes: 'e', index: '*' })).to.deep.equal({
      nIndexesWas: 63,
      ok: 1,
    });
    await runCommand(engine, { createIndexes: 'e', indexes: indexes.slice(0, 62) });
    const more = { createIndexes: 'e', indexes: [{ key: { g: 1 } }, { key: { h: 1 } }] };
    expect(await failureOf(engine, more)).to.include({ code: 67 });
    expect(await runCommand(engine, { dropIndexes: 'e', index: '*' }), 'all or none').to.include({
      nIndexesWas: 63,
    });
  });

  it('a command has up to 100,000 statements and a name up to 200 characters', async () => {
    const batch = (length: number) =>
      runCommandWith(engine, { insert: 'e' }, { documents: Array(length).fill(Buffer.from(serialize({}))) });
    expect(await batch(100_001)).to.include({ ok: 0, code: 16 });
    expect(await batch(100_000)).to.include({ ok: 1, n: 100_000 });
    expect(await runCommand(engine, { create: 'x'.repeat(200) })).to.deep.equal({ ok: 1 });
  });

  it('hello tells a driver the limits of a standalone', async () => {
    const { localTime, ...told } = await runCommand(engine, { hello: 1 });
    expect(localTime).to.be.instanceOf(Date);
    expect(told).to.deep.equal({
      isWritablePrimary: true,
      helloOk: true,
      maxBsonObjectSize: 16 * 1024 * 1024,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
      logicalSessionTimeoutMinutes: 30,
      minWireVersion: 0,
      maxWireVersion: 21,
      readOnly: false,
      ok: 1,
    });
  });

  it('buildInfo and serverStatus name the release whose behaviour is followed', async () => {
    expect(await runCommand(engine, { buildInfo: 1 })).to.deep.equal({
      version: '7.0.0',
      versionArray: [7, 0, 0, 0],
      maxBsonObjectSize: 16 * 1024 * 1024,
      ok: 1,
    });
    await runCommand(engine, { find: 'c', batchSize: 0 });
    expect(await runCommand(engine, { serverStatus: 1 })).to.deep.include({
      ...{ version: '7.0.0', pid: process.pid, ok: 1 },
      metrics: { cursor: { open: { total: 1 } }, queryExecutor: { collectionScans: { total: 0 } } },
    });
  });

  it('the replies of the catalog', async () => {
    for (const _ of ['new', 'again'])
      expect(await runCommand(engine, { create: 'b' })).to.deep.equal({ ok: 1 });
    const killed = { cursorsKilled: [], cursorsAlive: [], cursorsUnknown: [], ok: 1 };
    expect(await runCommand(engine, { killCursors: 'c', cursors: [Long.fromNumber(5)] })).to.deep.equal({
      ...killed,
      cursorsNotFound: [5],
    });
    const listed = async (options: Document) =>
      ((await runCommand(engine, { listCollections: 1, cursor: {}, ...options })).cursor as Document)
        .firstBatch;
    expect(await listed({ nameOnly: true })).to.deep.equal([
      { name: 'b', type: 'collection' },
      { name: 'c', type: 'collection' },
    ]);
    expect(await listed({ filter: { name: 'b' } })).to.deep.equal([
      {
        ...{ name: 'b', type: 'collection', options: {}, info: { readOnly: false } },
        idIndex: { v: 2, key: { _id: 1 }, name: '_id_' },
      },
    ]);
    expect(await runCommand(engine, { drop: 'b' })).to.deep.equal({ nIndexesWas: 1, ns: 'test.b', ok: 1 });
    expect(await runCommand(engine, { drop: 'b' })).to.deep.equal({ ok: 1 });
    await runCommand(engine, { create: 'kept' }, 'other');
    expect(await runCommand(engine, { dropDatabase: 1 })).to.deep.equal({ dropped: 'test', ok: 1 });
    expect(engine.catalog.all().map(({ namespace }) => namespace)).to.deep.equal(['other.kept']);
    for (const database of ['a b', 'a.b', 'a/b', '', 'x'.repeat(64)])
      await expectCode(runCommand(engine, { create: 'c' }, database), 73);
    expect(await runCommand(engine, { create: 'c' }, 'x'.repeat(63))).to.deep.equal({ ok: 1 });
  });
});

/** Runs a command with document sequences. */
async function runCommandWith(
  engine: Engine,
  command: Document,
  sequences: Record<string, Buffer[]>,
): Promise<Reply> {
  return dispatch({ engine, database: 'test', command, sequences: new Map(Object.entries(sequences)) });
}

async function expectCode(reply: Promise<Document>, code: number): Promise<void> {
  const error = await reply.then(
    () => undefined,
    (failure) => failure.reply,
  );
  expect(error?.code).to.equal(code);
}
