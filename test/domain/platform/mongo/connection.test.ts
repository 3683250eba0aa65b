import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Document } from 'bson';
import { expect } from 'chai';
import { type EmbeddedMongo, startEmbeddedMongo } from 'embedded-mongo/server';
import mongoose from 'mongoose';
import { Member } from '../../../../domain/members/member.model.js';
import { startTcpProxy } from '../../../../scripts/command/tcp-proxy.js';
import { runScript } from '../../../scripts/script-runs.js';
import { commandIn, withCommand } from '../../../support/mongo-wire.js';
import { service } from '../../../support/service.js';

/** Works with a database as it is told (mongo-process.ts). */
const PROCESS = fileURLToPath(new URL('./mongo-process.js', import.meta.url));

/** How long an operation may take in the process under test, and how long a slow one takes, in ms. */
const OPERATION_MS = 1_000;
const SLOW_MS = 2_000;

/** For an answer that does not come at all. */
const NEVER = Number.POSITIVE_INFINITY;

/** A database behind a connection that keeps what is asked, and holds some answers back. */
interface SlowDatabase {
  uri: string;
  asked: Document[];
  close(): Promise<void>;
}

/**
 * @param slow how many answers to each of these commands come late, or NEVER
 * @param change makes another command of one that arrives
 */
async function startSlowDatabase(
  slow: Record<string, number>,
  change: (command: Document) => void = () => {},
): Promise<SlowDatabase> {
  const database: EmbeddedMongo = await startEmbeddedMongo({ storage: 'memory', database: 'adoption' });
  const asked: Document[] = [];
  const proxy = await startTcpProxy(
    () => database.port,
    () => {
      let delay = 0;
      return {
        request(message, pass) {
          const command = commandIn(message);
          asked.push(command);
          const name = Object.keys(slow).find((one) => one in command && (slow[one] ?? 0) > 0);
          delay = name ? (slow[name] === NEVER ? NEVER : SLOW_MS) : 0;
          if (name) slow[name] = (slow[name] ?? 0) - 1;
          const before = JSON.stringify(command);
          change(command);
          pass(JSON.stringify(command) === before ? message : withCommand(message, command));
        },
        answer(message, pass) {
          if (delay === 0) pass(message);
          else if (delay !== NEVER) setTimeout(pass, delay, message);
        },
      };
    },
  );
  return {
    uri: `mongodb://127.0.0.1:${proxy.port}/test`,
    asked,
    async close() {
      await proxy.close();
      await database.close();
    },
  };
}

describe('the connection to the database', () => {
  let database: SlowDatabase | undefined;
  afterEach(() => database?.close());

  async function run(task: 'indexes' | 'ping' | 'reads' | 'lost', uri: string, operationMs = OPERATION_MS) {
    const args = [task, uri, `${operationMs}`];
    const { status, stdout, stderr } = await runScript(PROCESS, args, {
      DATA_DIR: tmpdir(),
    });
    expect(status, stderr).to.equal(0);
    return stdout;
  }

  it('has no time limit for building an index, only for everything else', async () => {
    database = await startSlowDatabase({ createIndexes: 1, find: 10 });
    const output = await run('indexes', database.uri);
    expect(output.trim().split('\n')).to.deep.equal([
      'indexes stand',
      '1 connection',
      'MongoNetworkTimeoutError',
      // Closed: what is asked then fails, and does not wait for a connection.
      'SERVICE_UNAVAILABLE',
    ]);
  });

  it('35: refuses a server without the indexes, and names them', async () => {
    const built: Document[] = [];
    database = await startSlowDatabase({}, (command) => {
      const [index] = command.createIndexes === 'rooms' ? command.indexes : [];
      if (!index || built.push(index.key) > 2) return;
      if (built.length === 1) delete index.unique;
      else Object.assign(index, { key: { other: 1 }, name: 'other_1' });
    });
    const [outcome, connections] = (await run('indexes', database.uri)).split('\n');
    const [first, second] = built.map((key) => JSON.stringify(key));
    expect(outcome).to.equal(`Error: missing database indexes: rooms ${first} unique; rooms ${second}`);
    expect(connections).to.equal('1 connection');
  });

  it('has a shorter time limit for a ping', async () => {
    database = await startSlowDatabase({ ping: NEVER });
    const output = await run('ping', database.uri, 60_000);
    expect(output.trim()).to.equal('AppError: SERVICE_UNAVAILABLE');
  });

  it('buffers no commands for a database known to be unavailable', async () => {
    expect((await run('lost', '')).trim()).to.equal('SERVICE_UNAVAILABLE');
  });

  it('has time limits', async () => {
    await service();
    const { options } = mongoose.connection.getClient();
    expect(options).to.deep.include({
      serverSelectionTimeoutMS: 3_000,
      connectTimeoutMS: 3_000,
      waitQueueTimeoutMS: 3_000,
      socketTimeoutMS: 10_000,
      heartbeatFrequencyMS: 1_000,
      maxPoolSize: 20,
    });
  });

  it('refuses queries on unknown fields', async () => {
    await service();
    const refused = await Member.findOne({ mail: 'a@example.org' } as object).catch((error: Error) => error);
    expect(refused).to.be.an('error').with.property('name', 'StrictModeError');
  });

  /** Levels that the reads of rooms asked for, and what acknowledgement the write asked for. */
  function concernsIn({ asked }: SlowDatabase) {
    const reads = asked.filter(({ find, aggregate }) => (find ?? aggregate) === 'rooms');
    const [insert] = asked.filter((command) => command.insert === 'rooms');
    return { reads: reads.map(({ readConcern }) => readConcern?.level), write: insert?.writeConcern };
  }

  it('reads and writes at majority', async () => {
    database = await startSlowDatabase({});
    await run('reads', database.uri);
    expect(concernsIn(database)).to.deep.equal({
      reads: ['majority', 'majority', 'majority', 'majority'],
      write: { w: 'majority', j: true },
    });
    const building = database.asked.filter((command) => 'createIndexes' in command || 'create' in command);
    expect(building, 'no indexes but by ensureIndexes').to.deep.equal([]);
  });

  for (const [option, level, write] of [
    ['w=1', undefined, { w: 1 }],
    ['W=majority', 'majority', { w: 'majority' }],
    ['readConcernLevel=local', 'local', { w: 'majority', j: true }],
    ['appName=w=1', 'majority', { w: 'majority', j: true }],
  ] as const) {
    it(`leaves that to a URI that says ${option}`, async () => {
      database = await startSlowDatabase({});
      await run('reads', `${database.uri}?${option}`);
      expect(concernsIn(database)).to.deep.equal({ reads: Array(4).fill(level), write });
    });
  }
});
