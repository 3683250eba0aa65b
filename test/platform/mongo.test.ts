import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Document, deserialize } from 'bson';
import { expect } from 'chai';
import { type EmbeddedMongo, startEmbeddedMongo } from '../../scripts/embedded-mongo/server.js';
import { runScript } from '../scripts/script-runs.js';

/** Works with a database as it is told (mongo-process.ts). */
const PROCESS = fileURLToPath(new URL('./mongo-process.js', import.meta.url));

/** How long an operation may take in the process under test, and how long a slow one takes, in ms. */
const OPERATION_MS = 1_000;
const SLOW_MS = 2_000;

/** A database behind a connection that keeps what is asked, and holds some answers back. */
interface SlowDatabase {
  uri: string;
  asked: Document[];
  close(): Promise<void>;
}

/** The command of a message; it has one section, as all here are small. (MongoDB wire protocol, OP_MSG) */
function commandIn(message: Buffer): Document {
  const OP_MSG = 2013;
  return message.readInt32LE(12) === OP_MSG ? deserialize(message.subarray(21)) : {};
}

/** @param slow how many answers to each of these commands come late */
async function startSlowDatabase(slow: Record<string, number>): Promise<SlowDatabase> {
  const database: EmbeddedMongo = await startEmbeddedMongo({ storage: 'memory' });
  const { hostname, port } = new URL(database.uri);
  const asked: Document[] = [];
  const proxy: Server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let delay = 0;
    near.on('data', (chunk) => {
      const command = commandIn(chunk);
      asked.push(command);
      const name = Object.keys(slow).find((one) => one in command && (slow[one] ?? 0) > 0);
      delay = name ? SLOW_MS : 0;
      if (name) slow[name] = (slow[name] ?? 0) - 1;
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (delay === 0) near.write(chunk);
      else setTimeout(() => near.write(chunk), delay);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    uri: `mongodb://127.0.0.1:${(proxy.address() as { port: number }).port}/test`,
    asked,
    async close() {
      await new Promise((resolve) => proxy.close(resolve));
      await database.close();
    },
  };
}

describe('the connection to the database', () => {
  let database: SlowDatabase | undefined;
  afterEach(() => database?.close());

  async function run(task: 'indexes' | 'reads', uri: string): Promise<string> {
    const args = [task, uri, `${OPERATION_MS}`];
    const { status, stdout, stderr } = await runScript(PROCESS, args, {
      DATA_DIR: tmpdir(),
    });
    expect(status, stderr).to.equal(0);
    return stdout;
  }

  it('waits for an index as long as it takes to build, and for nothing else', async () => {
    database = await startSlowDatabase({ createIndexes: 1, find: 10 });
    const output = await run('indexes', database.uri);
    expect(output.trim().split('\n')).to.deep.equal(['indexes stand', 'MongoNetworkTimeoutError']);
  });

  /** Levels that the reads of rooms asked for, and what acknowledgement the write asked for. */
  function concernsIn({ asked }: SlowDatabase) {
    const reads = asked.filter(({ find, aggregate }) => (find ?? aggregate) === 'rooms');
    const [insert] = asked.filter((command) => command.insert === 'rooms');
    return { reads: reads.map(({ readConcern }) => readConcern?.level), write: insert?.writeConcern?.w };
  }

  it('reads what a majority has, and writes to a majority', async () => {
    database = await startSlowDatabase({});
    await run('reads', database.uri);
    expect(concernsIn(database)).to.deep.equal({
      reads: ['majority', 'majority', 'majority', 'majority'],
      write: 'majority',
    });
  });

  for (const [option, level, write] of [
    ['w=1', undefined, 1],
    ['W=majority', 'majority', 'majority'],
    ['readConcernLevel=local', 'local', 'majority'],
    ['appName=w=1', 'majority', 'majority'],
  ] as const) {
    it(`leaves that to a URI that says ${option}`, async () => {
      database = await startSlowDatabase({});
      await run('reads', `${database.uri}?${option}`);
      expect(concernsIn(database)).to.deep.equal({ reads: Array(4).fill(level), write });
    });
  }
});
