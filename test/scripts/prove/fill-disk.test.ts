import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { fillDisk, limitFiles, untilStored } from '../../../scripts/prove/faults/fill-disk.js';
import type { OwnInstallation } from '../../../scripts/prove/own-installation.js';

const MAIN = new URL(import.meta.resolve('embedded-mongo/main'));

const messageOf = (promise: Promise<unknown>) => promise.catch(({ message }: Error) => message);

describe('the full disk of npm run prove', () => {
  let folder: string;
  const { PATH } = process.env;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-test-disk-'));
  });
  afterEach(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });

  it('knows a process that has ended from a limit that cannot be set, and says why', async () => {
    const ended = spawn('true');
    await once(ended, 'exit');
    expect(await limitFiles(ended.pid as number, 0)).to.equal(false);

    const program = join(folder, 'prlimit');
    writeFileSync(program, '#!/bin/sh\necho "prlimit: Operation not permitted" >&2; exit 1\n');
    chmodSync(program, 0o755);
    process.env.PATH = `${folder}:${PATH}`;
    expect(await messageOf(limitFiles(process.pid, 'unlimited'))).to.equal(
      `the files of process ${process.pid} could not be limited to unlimited: prlimit: Operation not permitted`,
    );
  });

  it('fails where the database runs and stores nothing, says why, and knows one that has ended', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const uri = `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/adoption`;
    expect(await messageOf(untilStored({ running: true, uri }, 1))).to.match(
      /^the database runs, but stores nothing for 0.001 s: .*closed/,
    );
    expect(await untilStored({ running: false, uri })).to.equal(false);
    server.close();
  });

  describe('with a database', () => {
    let child: ChildProcess;
    let client: MongoClient;
    let database: OwnInstallation['database'];
    let starts: number;

    /** The database of a run, as far as the fault needs it. */
    async function start(): Promise<void> {
      child = fork(MAIN, ['--data-dir', folder, '--port', '0', '--database', 'adoption'], {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const [{ uri }] = (await once(child, 'message')) as [{ uri: string }];
      client = new MongoClient(uri, { retryWrites: false });
      const file = join(folder, 'mongo', 'data.mdb');
      const running = { get: () => child.exitCode === null && child.signalCode === null };
      const again = async () => {
        starts += 1;
      };
      const parts = { uri, file, pid: child.pid, start: again };
      database = Object.defineProperty(parts, 'running', running) as unknown as OwnInstallation['database'];
    }

    beforeEach(() => {
      starts = 0;
      return start();
    });
    afterEach(async () => {
      await client.close();
      if (!database.running) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });

    const collections = async () => {
      const lists = ['adoption', 'probe'].map((name) => client.db(name).listCollections().toArray());
      return (await Promise.all(lists)).flat().map(({ name }) => name);
    };

    it('lets nothing be stored, until the database stores again', async () => {
      await client.db().collection('notes').insertOne({ text: 'before' });
      let refused: unknown;
      let before: string[] = [];
      await fillDisk(database, true, async () => {
        before = await collections();
        refused = await messageOf(
          client
            .db()
            .collection('notes')
            .insertOne({ text: 'x'.repeat(100_000) }),
        );
      });
      expect(refused).to.match(/disk/);
      if (starts > 0) return;
      await client.db().collection('notes').insertOne({ text: 'after' });
      expect(before).to.include('probes');
      expect(await collections(), 'a probe needs no room for a collection').to.deep.equal(before);
    });

    it('starts a database again that ends meanwhile', async () => {
      await fillDisk(database, true, async () => {
        child.kill('SIGKILL');
        await once(child, 'exit');
      });
      expect(starts).to.equal(1);
    });
  });
});
