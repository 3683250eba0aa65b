import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { MongoClient, type MongoServerError } from 'mongodb';
import { acquireLock, readOwner } from '../../../scripts/embedded-mongo/lock.js';
import { openEmbeddedMongo } from '../../../scripts/embedded-mongo/open.js';
import { startEmbeddedMongo } from '../../../scripts/embedded-mongo/server.js';

const MAIN = fileURLToPath(new URL('../../../scripts/embedded-mongo/main.js', import.meta.url));

type Message = { type: string; uri?: string; message?: string };

async function countIn(uri: string): Promise<number> {
  const client = await new MongoClient(uri).connect();
  try {
    return await client.db().collection('rows').countDocuments();
  } finally {
    await client.close();
  }
}

async function insertInto(uri: string, document: Record<string, unknown>): Promise<void> {
  const client = await new MongoClient(uri).connect();
  try {
    await client.db().collection('rows').insertOne(document);
  } finally {
    await client.close();
  }
}

const messageOf = (call: Promise<unknown>) =>
  call.then(
    () => 'no error',
    (error: Error) => error.message,
  );

describe('embedded database: as a process', () => {
  let dataDir: string;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'embedded-process-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0))
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    await rm(dataDir, { recursive: true, force: true });
  });

  const start = async (...args: string[]) => {
    const child = fork(MAIN, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    children.push(child);
    const output = { stdout: '', stderr: '' };
    child.stdout?.on('data', (text) => {
      output.stdout += text;
    });
    child.stderr?.on('data', (text) => {
      output.stderr += text;
    });
    const [message] = (await once(child, 'message')) as [Message];
    return { child, message, output };
  };

  it('says where it listens, keeps its data and ends silently on SIGTERM', async () => {
    const first = await start('--data-dir', dataDir);
    expect(first.message.type).to.equal('ready');
    await insertInto(first.message.uri ?? '', { a: 1 });
    first.child.kill('SIGTERM');
    expect(await once(first.child, 'exit')).to.deep.equal([0, null]);
    expect(first.output).to.deep.equal({ stdout: '', stderr: '' });
    expect(existsSync(join(dataDir, 'mongo', 'lock.json'))).to.equal(false);
    const second = await start('--data-dir', dataDir);
    expect(await countIn(second.message.uri ?? '')).to.equal(1);
  });

  it('ends when its parent is killed', async () => {
    const script = `
      import { fork } from 'node:child_process';
      const child = fork(${JSON.stringify(MAIN)}, ['--data-dir', ${JSON.stringify(dataDir)}], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
      child.on('message', () => process.send({ pid: child.pid }));`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    children.push(parent);
    await once(parent, 'message');
    expect(readOwner(join(dataDir, 'mongo')))
      .to.have.property('port')
      .above(0);
    parent.kill('SIGKILL');
    // The folder is free as soon as the orphan has closed it: taking the lock waits for exactly that.
    const lock = await acquireLock(join(dataDir, 'mongo'));
    lock.release();
  });

  it('fails by one clear line: another format, a port in use, a bad call', async () => {
    await mkdir(join(dataDir, 'mongo'));
    await writeFile(join(dataDir, 'mongo', 'format-version'), '99\n');
    const format = await start('--data-dir', dataDir);
    expect(format.message).to.deep.include({ type: 'failed' });
    expect(format.message.message).to.contain('data format 99');
    expect(await once(format.child, 'exit')).to.deep.equal([1, null]);
    expect(format.output.stderr.trim().split('\n')).to.have.lengthOf(1);
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const taken = await start('--data-dir', join(dataDir, 'two'), '--port', String(port));
    expect(taken.message.message).to.contain('EADDRINUSE');
    other.close();
    expect((await start('--port', '1')).message.message).to.contain('--data-dir');
    expect((await start('--data-dir', dataDir, '--port', 'x')).message.message).to.contain('no port number');
  });

  it('a second server is refused while the first lives, and a stale lock is taken over', async () => {
    const first = await start('--data-dir', dataDir);
    const folder = join(dataDir, 'mongo');
    expect(await messageOf(acquireLock(folder, 100))).to.contain(`in use by process ${first.child.pid}`);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect(existsSync(join(folder, 'lock.json'))).to.equal(true);
    const server = await startEmbeddedMongo({ dataDir });
    expect(readOwner(folder)).to.include({ pid: process.pid, port: server.port });
    await server.close();
    // The pid of a lock may by now be another program's: the start time tells.
    await writeFile(join(folder, 'lock.json'), JSON.stringify({ pid: process.ppid, started: '1', port: 1 }));
    const lock = await acquireLock(folder, 100);
    lock.release();
  });

  it('openEmbeddedMongo joins a server that runs, starts one otherwise, and stops only its own', async () => {
    const [one, two, three] = await Promise.all([
      openEmbeddedMongo(dataDir),
      openEmbeddedMongo(dataDir),
      openEmbeddedMongo(dataDir),
    ]);
    expect(two.uri).to.equal(one.uri);
    expect(three.uri).to.equal(one.uri);
    await insertInto(one.uri, { a: 1 });
    const late = await openEmbeddedMongo(dataDir);
    expect(await countIn(late.uri)).to.equal(1);
    await late.close();
    expect(await countIn(one.uri)).to.equal(1);
    await Promise.all([one.close(), two.close(), three.close()]);
    expect(readOwner(join(dataDir, 'mongo'))).to.equal(undefined);
    const again = await openEmbeddedMongo(dataDir);
    expect(await countIn(again.uri)).to.equal(1);
    await again.close();
  });

  it('openEmbeddedMongo reports why it cannot start', async () => {
    await mkdir(join(dataDir, 'mongo'));
    await writeFile(join(dataDir, 'mongo', 'format-version'), '99\n');
    expect(await messageOf(openEmbeddedMongo(dataDir))).to.contain('data format 99');
  });

  it('answers a full disk by an error and keeps what was acknowledged', async () => {
    // A limit on file size is a disk that is full for this process alone; its signal is ignored as on a real one.
    const script = 'trap "" XFSZ; ulimit -f 4096; exec "$0" "$@"';
    const child = spawn('bash', ['-c', script, process.execPath, MAIN, '--data-dir', dataDir], {
      // lmdb-js prints the failed write to stderr as well.
      stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
    });
    children.push(child);
    const [{ uri }] = (await once(child, 'message')) as [{ uri: string }];
    const client = await new MongoClient(uri, { retryWrites: false }).connect();
    const rows = client.db().collection<{ _id: number }>('rows');
    let stored = 0;
    let failure: MongoServerError | undefined;
    while (!failure && stored < 1000) {
      await rows.insertOne({ _id: stored, pad: 'x'.repeat(20_000) } as { _id: number }).then(
        () => {
          stored++;
        },
        (error) => {
          failure = error;
        },
      );
    }
    await client.close();
    expect(failure).to.include({ code: 14031, codeName: 'OutOfDiskSpace' });
    expect(stored).to.be.above(50);
    expect(await countIn(uri)).to.equal(stored);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const server = await startEmbeddedMongo({ dataDir });
    expect(await countIn(server.uri)).to.equal(stored);
    await insertInto(server.uri, { _id: stored });
    await server.close();
  });
});
