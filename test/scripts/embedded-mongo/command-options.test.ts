import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import type { Engine } from '../../../scripts/embedded-mongo/commands/engine.js';
import { type EmbeddedMongo, startEmbeddedMongo } from '../../../scripts/embedded-mongo/server.js';
import type { Writer } from '../../../scripts/embedded-mongo/storage/storage.js';
import { MemoryStorage } from '../../../scripts/embedded-mongo/storage/storage.memory.js';
import type { Document } from '../../../scripts/embedded-mongo/values/bson-types.js';
import { CommandError, errorReply } from '../../../scripts/embedded-mongo/values/errors.js';
import { buildEngine, CommandFailure, find, runCommand } from './run-command.js';

/** The reply of a command that fails as a whole, or its first write error. */
async function failureOf(engine: Engine, command: Document): Promise<Document> {
  const reply = await runCommand(engine, command).catch((error) => {
    if (error instanceof CommandFailure) return error.reply;
    throw error;
  });
  return (reply.writeErrors as Document[] | undefined)?.[0] ?? reply;
}

/** Every command that is served and does not take any field whatever, in a form that works. */
const COMMANDS: Document[] = [
  { find: 'c' },
  { getMore: 1, collection: 'c' },
  { count: 'c' },
  { distinct: 'c', key: 'a' },
  { aggregate: 'c', pipeline: [], cursor: {} },
  { insert: 'c', documents: [{}] },
  { update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } } }] },
  { delete: 'c', deletes: [{ q: {}, limit: 1 }] },
  { findAndModify: 'c', remove: true },
  { findandmodify: 'c', remove: true },
  { explain: { find: 'c' } },
  { create: 'd' },
  { drop: 'c' },
  { dropDatabase: 1 },
  { listCollections: 1 },
  { listDatabases: 1 },
  { listIndexes: 'c' },
  { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }] },
  { dropIndexes: 'c', index: '*' },
  { deleteIndexes: 'c', index: '*' },
  { killCursors: 'c', cursors: [] },
  { connectionStatus: 1 },
  { ping: 1 },
  { buildInfo: 1 },
  { buildinfo: 1 },
  { endSessions: [] },
  { refreshSessions: [] },
  { startSession: 1 },
  { logout: 1 },
  { whatsmyuri: 1 },
];

/** The same inside a command. */
const INNER: Document[] = [
  { explain: { find: 'c', nonsense: 1 } },
  { explain: { delete: 'c', deletes: [{ q: {}, limit: 1, nonsense: 1 }] } },
  { update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, nonsense: 1 }] },
  { delete: 'c', deletes: [{ q: {}, limit: 1, nonsense: 1 }] },
  { aggregate: 'c', pipeline: [], cursor: { nonsense: 1 } },
  { listCollections: 1, cursor: { nonsense: 1 } },
  { listIndexes: 'c', cursor: { nonsense: 1 } },
];

describe('embedded database: options of commands', () => {
  let engine: Engine;
  beforeEach(async () => {
    engine = buildEngine();
    await runCommand(engine, { insert: 'c', documents: [{ _id: 1, a: 0 }] });
  });
  afterEach(() => engine.close());

  describe('unknown fields', () => {
    for (const command of COMMANDS)
      it(`${Object.keys(command)[0]}: 40415, by name, and nothing is done`, async () => {
        const reply = await failureOf(engine, { ...command, nonsense: 1 });
        expect(reply).to.deep.include({ code: 40415 });
        expect(reply.errmsg).to.equal(
          `BSON field '${Object.keys(command)[0]}.nonsense' is an unknown field.`,
        );
        expect(await find(engine, 'c', {})).to.deep.equal([{ _id: 1, a: 0 }]);
        expect((await runCommand(engine, { listCollections: 1 })).cursor).to.have.nested.property(
          'firstBatch.length',
          1,
        );
      });

    for (const command of INNER)
      it(`${JSON.stringify(command)}: 40415`, async () => {
        expect(await failureOf(engine, command)).to.deep.include({ code: 40415 });
      });

    it('the handshake takes any: drivers add fields of their own', async () => {
      for (const name of ['hello', 'isMaster', 'ismaster'])
        expect(await runCommand(engine, { [name]: 1, nonsense: 1 })).to.include({ ok: 1 });
    });

    it('what drivers add by themselves is known to every command', async () => {
      const generic = {
        lsid: { id: 1 },
        $readPreference: { mode: 'primary' },
        comment: 'x',
        maxTimeMS: 60_000,
      };
      for (const command of COMMANDS.filter((one) => !('getMore' in one))) {
        await runCommand(engine, { insert: 'c', documents: [{}] });
        expect(await runCommand(engine, { ...command, ...generic }), JSON.stringify(command)).to.include({
          ok: 1,
        });
      }
    });
  });

  describe('refused by name', () => {
    for (const name of [
      'collMod',
      'renameCollection',
      'dbStats',
      'collStats',
      'validate',
      'compact',
      'bulkWrite',
    ])
      it(`the command ${name}: 238`, async () => {
        const reply = await failureOf(engine, { [name]: 'c' });
        expect(reply).to.deep.include({ code: 238, codeName: 'NotImplemented' });
        expect(reply.errmsg).to.contain(name);
      });

    const options: [command: Document, code: number, named: string][] = [
      [{ find: 'c', noCursorTimeout: true }, 238, 'noCursorTimeout'],
      [{ aggregate: 'c', pipeline: [], explain: true }, 238, 'explain'],
      [{ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }], commitQuorum: 1 }, 2, 'commitQuorum'],
      [
        { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }], ignoreUnknownIndexOptions: true },
        238,
        'ignoreUnknownIndexOptions',
      ],
      [{ insert: 'c', documents: [{}], collation: { locale: 'simple' } }, 40415, 'collation'],
      [{ insert: 'c', documents: [{}], let: {} }, 40415, 'let'],
      [{ count: 'c', skip: -1 }, 51024, 'skip'],
      [{ delete: 'c', deletes: [{ q: {} }] }, 40414, 'limit'],
    ];
    for (const [command, code, named] of options)
      it(`${JSON.stringify(command)}: ${code}`, async () => {
        const reply = await failureOf(engine, command);
        expect(reply).to.deep.include({ code });
        expect(reply.errmsg).to.contain(named);
      });
  });

  describe('create', () => {
    it('of a collection that is there, with the same options, is no error (manual: create, since 7.0)', async () => {
      const plain = { capped: false, idIndex: { v: 2, key: { _id: 1 }, name: '_id_' } };
      for (const options of [{}, plain, { collation: { locale: 'simple' } }])
        expect(await runCommand(engine, { create: 'c', ...options })).to.deep.equal({ ok: 1 });
      expect(await find(engine, 'c', {})).to.have.lengthOf(1);
    });

    const others: Document[] = [
      { capped: true, size: 1000 },
      { timeseries: { timeField: 't' } },
      { viewOn: 'd', pipeline: [] },
      { validator: { a: 1 } },
      { expireAfterSeconds: 5 },
      { changeStreamPreAndPostImages: { enabled: true } },
    ];
    for (const options of others)
      it(`with ${Object.keys(options)[0]}: 48 where the collection is there, else refused by name`, async () => {
        expect(await failureOf(engine, { create: 'c', ...options })).to.include({
          code: 48,
          codeName: 'NamespaceExists',
        });
        const reply = await failureOf(engine, { create: 'd', ...options });
        expect(reply).to.include({ code: 238 });
        expect(reply.errmsg).to.contain(Object.keys(options)[0]);
        expect(await failureOf(engine, { listIndexes: 'd' })).to.include({ code: 26 });
      });
  });

  it('a write concern that one server cannot meet is refused, and nothing is written', async () => {
    for (const w of [2, 'dc1', { dc1: 1 }]) {
      const reply = await failureOf(engine, { insert: 'e', documents: [{}], writeConcern: { w } });
      expect(reply, JSON.stringify(w)).to.include({ code: 2 });
    }
    expect(await find(engine, 'e', {})).to.deep.equal([]);
    for (const w of [0, 1, 'majority'])
      await runCommand(engine, { insert: 'e', documents: [{}], writeConcern: { w } });
    expect(await find(engine, 'e', {})).to.have.lengthOf(3);
  });

  it("gives MongoDB's name with each code (src/mongo/base/error_codes.yml)", () => {
    const names: [code: number, name: string][] = [
      [1, 'InternalError'],
      [2, 'BadValue'],
      [9, 'FailedToParse'],
      [11, 'UserNotFound'],
      [13, 'Unauthorized'],
      [14, 'TypeMismatch'],
      [15, 'Overflow'],
      [16, 'InvalidLength'],
      [17, 'ProtocolError'],
      [18, 'AuthenticationFailed'],
      [20, 'IllegalOperation'],
      [22, 'InvalidBSON'],
      [26, 'NamespaceNotFound'],
      [27, 'IndexNotFound'],
      [28, 'PathNotViable'],
      [40, 'ConflictingUpdateOperators'],
      [43, 'CursorNotFound'],
      [48, 'NamespaceExists'],
      [50, 'MaxTimeMSExpired'],
      [52, 'DollarPrefixedFieldName'],
      [53, 'InvalidIdField'],
      [54, 'NotSingleValueField'],
      [59, 'CommandNotFound'],
      [66, 'ImmutableField'],
      [67, 'CannotCreateIndex'],
      [72, 'InvalidOptions'],
      [73, 'InvalidNamespace'],
      [76, 'NoReplicationEnabled'],
      [85, 'IndexOptionsConflict'],
      [86, 'IndexKeySpecsConflict'],
      [91, 'ShutdownInProgress'],
      [115, 'CommandNotSupported'],
      [123, 'NotAReplicaSet'],
      [168, 'InvalidPipelineOperator'],
      [171, 'CannotIndexParallelArrays'],
      [197, 'InvalidIndexSpecificationOption'],
      [238, 'NotImplemented'],
      [246, 'SnapshotUnavailable'],
      [292, 'QueryExceededMemoryLimitNoDiskUseAllowed'],
      [10334, 'BSONObjectTooLarge'],
      [11000, 'DuplicateKey'],
      [14031, 'OutOfDiskSpace'],
    ];
    for (const [code, codeName] of names)
      expect(errorReply(new CommandError(code, 'x'))).to.include({ ok: 0, code, codeName, errmsg: 'x' });
  });

  it('connectionStatus shows privileges when asked to', async () => {
    const { authInfo } = await runCommand(engine, { connectionStatus: 1, showPrivileges: true });
    expect(authInfo).to.have.property('authenticatedUserPrivileges').that.deep.equals([]);
  });

  it('listDatabases gives those that match, and names alone when asked to', async () => {
    expect(await runCommand(engine, { listDatabases: 1, filter: { name: 'test' } })).to.deep.equal({
      databases: [{ name: 'test', sizeOnDisk: 0, empty: false }],
      totalSize: 0,
      ok: 1,
    });
    expect(await runCommand(engine, { listDatabases: 1, nameOnly: true })).to.deep.equal({
      databases: [{ name: 'test' }],
      ok: 1,
    });
    const others = await runCommand(engine, { listDatabases: 1, filter: { name: { $ne: 'test' } } });
    expect(others.databases).to.deep.equal([]);
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
      connectionId: 1,
      minWireVersion: 0,
      maxWireVersion: 21,
      readOnly: false,
      ok: 1,
    });
  });

  it('buildInfo names the release whose behaviour is followed', async () => {
    expect(await runCommand(engine, { buildInfo: 1 })).to.deep.equal({
      version: '7.0.0',
      versionArray: [7, 0, 0, 0],
      maxBsonObjectSize: 16 * 1024 * 1024,
      ok: 1,
    });
  });

  describe('explain', () => {
    const explained = async (verbosity?: string) =>
      runCommand(engine, { explain: { find: 'c', filter: { a: 0 } }, ...(verbosity ? { verbosity } : {}) });

    it('tells as much as the verbosity says, everything by default', async () => {
      expect(await explained('queryPlanner'))
        .to.include.keys('queryPlanner')
        .and.not.have.property('executionStats');
      const executed = await explained('executionStats');
      expect(executed.executionStats).to.include({ nReturned: 1, totalDocsExamined: 1 });
      expect(executed.executionStats).not.to.have.property('allPlansExecution');
      for (const verbosity of ['allPlansExecution', undefined])
        expect((await explained(verbosity)).executionStats).to.deep.include({
          nReturned: 1,
          allPlansExecution: [],
        });
      const missing = await runCommand(engine, { explain: { find: 'none' }, verbosity: 'allPlansExecution' });
      expect(missing.executionStats).to.deep.include({ nReturned: 0, allPlansExecution: [] });
      expect(await failureOf(engine, { explain: { find: 'c' }, verbosity: 'all' })).to.include({ code: 2 });
    });

    it('shows what an index is', async () => {
      const kinds = { isMultiKey: false, isUnique: false, isSparse: false, isPartial: false };
      const indexes: [options: Document, shown: Document][] = [
        [{}, kinds],
        [{ unique: true }, { ...kinds, isUnique: true }],
        [{ sparse: true }, { ...kinds, isSparse: true }],
        [{ partialFilterExpression: { b: { $gt: 0 } } }, { ...kinds, isPartial: true }],
      ];
      for (const [options, shown] of indexes) {
        const label = JSON.stringify(options);
        await runCommand(engine, { create: 'shown' });
        await runCommand(engine, {
          createIndexes: 'shown',
          indexes: [{ key: { b: 1 }, name: 'b', ...options }],
        });
        const stageOf = async () => {
          const reply = await runCommand(engine, { explain: { find: 'shown', filter: { b: 5 }, hint: 'b' } });
          const { winningPlan } = reply.queryPlanner as { winningPlan: Document };
          return winningPlan.inputStage;
        };
        const scan = { stage: 'IXSCAN', keyPattern: { b: 1 }, indexName: 'b', direction: 'forward' };
        expect(await stageOf(), label).to.deep.include({ ...scan, ...shown });
        await runCommand(engine, { insert: 'shown', documents: [{ b: [5, 6] }] });
        expect(await stageOf(), label).to.deep.include({ ...scan, ...shown, isMultiKey: true });
        await runCommand(engine, { drop: 'shown' });
      }
    });

    it('shows the stages after the query as they were given', async () => {
      const group = { _id: '$a', n: { $sum: 1 } };
      const pipeline = [{ $match: { a: 0 } }, { $group: group }];
      const reply = await runCommand(engine, { explain: { aggregate: 'c', pipeline, cursor: {} } });
      const [cursor, ...rest] = reply.stages as Document[];
      expect(cursor?.$cursor).to.include.keys('queryPlanner', 'executionStats');
      expect(rest).to.deep.equal([{ $group: group }]);
    });

    it('refuses in the explained command what the command refuses', async () => {
      const explain = (inner: Document) => failureOf(engine, { explain: inner });
      expect(await explain({ find: 'c', collation: { locale: 'ko' } })).to.include({ code: 238 });
      expect(await explain({ find: 'c', readConcern: { level: 'snapshot' } })).to.include({ code: 246 });
    });
  });

  describe('maxTimeMS', () => {
    const MANY = 20_000;
    /** Enough to read that it takes longer than a millisecond on any machine. */
    const fill = async () => {
      const documents = Array.from({ length: MANY }, (_, i) => ({ a: i, pad: 'x'.repeat(50) }));
      await runCommand(engine, { insert: 'many', documents });
    };

    const slow: Document[] = [
      { find: 'many', filter: { b: 1 } },
      { count: 'many', query: { b: 1 } },
      { distinct: 'many', key: 'b' },
      { aggregate: 'many', pipeline: [{ $group: { _id: '$b' } }], cursor: {} },
      { explain: { find: 'many', filter: { b: 1 } } },
      { update: 'many', updates: [{ q: { pad: /x$/ }, u: { $set: { a: -1 } }, multi: true }] },
      { delete: 'many', deletes: [{ q: { pad: /x$/ }, limit: 0 }] },
      { findAndModify: 'many', query: { b: 1 }, update: { $set: { b: 1 } }, upsert: true },
      { createIndexes: 'many', indexes: [{ key: { a: 1 }, name: 'a' }] },
    ];
    it('ends what takes longer with 50 MaxTimeMSExpired, and nothing is changed', async () => {
      await fill();
      for (const command of slow) {
        const label = Object.keys(command)[0];
        expect((await failureOf(engine, { ...command, maxTimeMS: 1 })).code, label).to.equal(50);
      }
      expect(await runCommand(engine, { count: 'many', query: { a: { $gte: 0 }, b: null } })).to.include({
        n: MANY,
      });
      const indexes = await runCommand(engine, { listIndexes: 'many' });
      expect((indexes.cursor as { firstBatch: Document[] }).firstBatch).to.have.lengthOf(1);
      expect(engine.cursors.size).to.equal(0);
    });

    it('ends the inner side of a $lookup as well', async () => {
      await fill();
      const lookup = {
        from: 'many',
        localField: 'x',
        foreignField: 'b',
        as: 'm',
        pipeline: [{ $match: { c: 1 } }],
      };
      const command = { aggregate: 'c', pipeline: [{ $lookup: lookup }], cursor: {}, maxTimeMS: 1 };
      expect(await failureOf(engine, command)).to.include({ code: 50, codeName: 'MaxTimeMSExpired' });
    });

    it('counts the batches of a cursor together, not the time between them', async () => {
      await fill();
      const whole = async (maxTimeMS: number, batchSize: number) => {
        const first = await runCommand(engine, { find: 'many', batchSize, maxTimeMS, filter: { pad: /x$/ } });
        let { id } = first.cursor as Document;
        let got = batchSize;
        while (Number(id) !== 0) {
          const more = await runCommand(engine, { getMore: id, collection: 'many', batchSize });
          const cursor = more.cursor as { id: unknown; nextBatch: Document[] };
          got += cursor.nextBatch.length;
          id = cursor.id;
        }
        return got;
      };
      expect(await whole(60_000, 5000)).to.equal(MANY);
      const failure = await whole(5, 100).catch((error: CommandFailure) => error.reply);
      expect(failure).to.include({ code: 50 });

      const limited = { find: 'many', batchSize: 1, maxTimeMS: 200 };
      const { cursor } = await runCommand(engine, limited);
      const idle = performance.now() + 300;
      while (performance.now() < idle);
      const more = await runCommand(engine, {
        getMore: (cursor as Document).id,
        collection: 'many',
        batchSize: 1,
      });
      expect((more.cursor as { nextBatch: Document[] }).nextBatch).to.have.lengthOf(1);
    });

    it('ends a write that waited too long for its turn, before it changes anything', async () => {
      let open = () => {};
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      class Queued extends MemoryStorage {
        override async write<T>(job: (writer: Writer) => T): Promise<T> {
          await gate;
          return super.write(job);
        }
      }
      const queued = buildEngine(new Queued());
      const reply = failureOf(queued, { insert: 'c', documents: [{}], maxTimeMS: 1 });
      const over = performance.now() + 5;
      while (performance.now() < over);
      open();
      expect(await reply).to.include({ code: 50 });
      expect(await runCommand(queued, { count: 'c' })).to.include({ n: 0 });
      await queued.close();
    });

    it('takes whole numbers from 0, which is no limit, to 2^31 - 1', async () => {
      for (const maxTimeMS of [-1, 1.5, 2 ** 31, 'x'])
        expect(await failureOf(engine, { find: 'c', maxTimeMS }), String(maxTimeMS)).to.include({ code: 2 });
      for (const maxTimeMS of [0, 2 ** 31 - 1, null])
        expect(await runCommand(engine, { find: 'c', maxTimeMS })).to.include({ ok: 1 });
      const { cursor } = await runCommand(engine, { find: 'c', batchSize: 0 });
      const getMore = { getMore: (cursor as Document).id, collection: 'c', maxTimeMS: 5 };
      expect(await failureOf(engine, getMore)).to.include({ code: 2 });
    });
  });
});

describe('embedded database: options as the driver sends them', () => {
  let server: EmbeddedMongo;
  let client: MongoClient;
  before(async () => {
    server = await startEmbeddedMongo({ storage: 'memory' });
    client = await new MongoClient(server.uri, { retryWrites: false }).connect();
  });
  after(async () => {
    await client.close();
    await server.close();
  });

  it('timeoutMS, which puts maxTimeMS on every command', async () => {
    const rows = client.db().collection('timed', { timeoutMS: 30_000 });
    await rows.insertMany([{ a: 1 }, { a: 2 }, { a: 3 }]);
    expect(await rows.find({}, { batchSize: 1 }).toArray()).to.have.lengthOf(3);
    expect(await rows.updateMany({}, { $inc: { a: 1 } })).to.include({ modifiedCount: 3 });
    expect(await rows.countDocuments({ a: { $gt: 2 } })).to.equal(2);
    expect(await rows.findOneAndDelete({ a: 2 })).to.include({ a: 2 });
    expect(await rows.createIndex({ a: 1 })).to.equal('a_1');
  });

  it('explain in each verbosity, of find, aggregate, update and delete', async () => {
    const rows = client.db().collection('explained');
    await rows.insertOne({ a: 1 });
    for (const verbosity of ['queryPlanner', 'executionStats', 'allPlansExecution', true, false] as const) {
      const executes = verbosity !== 'queryPlanner' && verbosity !== false;
      const replies = [
        await rows.find({ a: 1 }).explain(verbosity as string),
        await rows.aggregate([{ $match: { a: 1 } }]).explain(verbosity as string),
        await rows.updateOne({ a: 1 }, { $set: { a: 2 } }, { explain: verbosity }),
        await rows.deleteOne({ a: 1 }, { explain: verbosity }),
      ] as unknown as Document[];
      for (const reply of replies)
        expect('executionStats' in reply, `${verbosity}: ${JSON.stringify(reply)}`).to.equal(executes);
    }
    expect(await rows.findOne({}, { projection: { _id: 0 } })).to.deep.equal({ a: 1 });
  });

  it('createCollection again, as every start of mongoose does', async () => {
    await client.db().createCollection('again');
    await client.db().createCollection('again');
    expect(await client.db().listCollections({ name: 'again' }).toArray()).to.have.lengthOf(1);
  });
});
