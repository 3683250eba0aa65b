import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { socketUri } from '../src/folder/data-folder.js';
import { holdOwner, takeFolder } from '../src/folder/lock.js';
import { eventually } from './support/eventually.js';
import { useFolder } from './support/folder.js';
import { countIn, insertInto } from './support/rows.js';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));

type Message = { type: string; uri?: string; message?: string };

describe('embedded database: as a process', () => {
  let dataDir: string;
  useFolder((made) => {
    dataDir = made;
  });
  const children: ChildProcess[] = [];

  afterEach(async () => {
    for (const child of children.splice(0))
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
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

  /** What it logged, each line a message and what else it says. */
  const logged = (output: { stderr: string }) =>
    output.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('says where it listens, keeps its data, and logs its start, its end, and that the one before was killed', async () => {
    const first = await start('--data-dir', dataDir);
    expect(first.message.type).to.equal('ready');
    await insertInto(first.message.uri ?? '');
    first.child.kill('SIGTERM');
    expect(await once(first.child, 'exit')).to.deep.equal([0, null]);
    expect(first.output.stdout).to.equal('');
    const { pid } = first.child;
    const lines = logged(first.output);
    for (const line of lines) {
      expect(line).to.include({ level: 'info', name: 'database', pid });
      expect(new Date(line.time).toISOString()).to.equal(line.time);
    }
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['starting', 'serving', 'stopping', 'stopped']);
    expect(lines[1].uri).to.equal(first.message.uri);
    expect(lines[2].reason).to.equal('SIGTERM');
    expect(existsSync(join(dataDir, 'mongo', 'db.sock'))).to.equal(false);
    const second = await start('--data-dir', dataDir);
    expect(await countIn(second.message.uri ?? '')).to.equal(1);
    second.child.kill('SIGKILL');
    await once(second.child, 'exit');
    const third = await start('--data-dir', dataDir);
    expect(await countIn(third.message.uri ?? '')).to.equal(1);
    expect(logged(second.output)).to.have.lengthOf(2);
    expect(logged(third.output).map(({ level, msg }) => `${level} ${msg}`)).to.deep.equal([
      'info starting',
      'warn recovered: the process before ended without closing; every acknowledged write is there',
      'info serving',
    ]);
  });

  it('ends in order when its parent is gone before it serves', async () => {
    const child = fork(MAIN, ['--data-dir', dataDir], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    children.push(child);
    let stderr = '';
    child.stderr?.on('data', (text) => {
      stderr += text;
    });
    child.disconnect();
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
    expect(stderr).to.match(/"reason":"nobody uses it"/);
  });

  it('ends when its parent is killed and nobody uses it any more', async () => {
    const script = `
      import { fork } from 'node:child_process';
      const child = fork(${JSON.stringify(MAIN)}, ['--data-dir', ${JSON.stringify(dataDir)}], { stdio: ['ignore', 'inherit', 'ignore', 'ipc'], execArgv: [] });
      child.on('message', () => process.send({ pid: child.pid }));`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    children.push(parent);
    await once(parent, 'message');
    const folder = join(dataDir, 'mongo');
    const hold = await holdOwner(folder);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    // Somebody uses it: it stays.
    expect(await countIn(socketUri(folder, 'test'))).to.equal(0);
    await hold?.release();
    // The orphan may not have heard of both yet. Once it is closing, taking the folder waits until it has left.
    await eventually(async () => (await takeFolder(folder)).release());
  });

  it('fails by one clear line: another format, a port in use, a bad call', async () => {
    await mkdir(join(dataDir, 'mongo'));
    await writeFile(join(dataDir, 'mongo', 'format-version'), '99\n');
    const format = await start('--data-dir', dataDir);
    expect(format.message).to.deep.include({ type: 'failed' });
    expect(format.message.message).to.contain('data format 99');
    expect(await once(format.child, 'exit')).to.deep.equal([1, null]);
    const [, fault, ...more] = logged(format.output);
    expect(more).to.deep.equal([]);
    expect(fault).to.deep.include({ level: 'fatal', msg: 'cannot start' });
    expect(fault.err.message).to.equal(format.message.message);
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const taken = await start('--data-dir', join(dataDir, 'two'), '--port', String(port));
    expect(taken.message.message).to.contain('EADDRINUSE');
    other.close();
    expect((await start('--port', '1')).message.message).to.contain('--data-dir');
    expect((await start('--data-dir', dataDir, '--port', 'x')).message.message).to.contain('no port number');
  });

  it('listens on a chosen port beside its socket', async () => {
    const { message } = await start('--data-dir', dataDir, '--port', '0');
    expect(message.uri).to.match(/^mongodb:\/\/127\.0\.0\.1:\d+\/test$/);
    await insertInto(message.uri ?? '');
    expect(await countIn(socketUri(join(dataDir, 'mongo'), 'test'))).to.equal(1);
  });
});
