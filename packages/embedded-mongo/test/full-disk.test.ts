import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { MongoServerError } from 'mongodb';
import { useFolder } from './support/folder.js';
import { withRows } from './support/rows.js';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));

/**
 * A small disk of its own, where the system lets us mount one; else a limit on file size, which is a disk that is full
 * for one process alone.
 * Node ignores the signal of that limit (nodejs/node#27798).
 */
const canMount = spawnSync('unshare', ['-r', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;
const SMALL_DISK = canMount ? 'mount -t tmpfs -o size=4m tmpfs "$2" || exit' : 'ulimit -f 4096';

type Message = { type: string; uri?: string; message?: string };

describe('embedded database: on a full disk', () => {
  let dataDir: string;
  useFolder((made) => {
    dataDir = made;
  });
  let shell: ChildProcess;

  afterEach(async () => {
    shell.stdin?.end();
    if (shell.exitCode === null) await once(shell, 'exit');
  });

  /** Runs a script in a shell of this disk, which starts the database for each line that it reads. */
  function openShell(prepare: string): void {
    const log = '2>> "$2/log"';
    const script = `${prepare}; while read -r line; do "$0" "$1" --data-dir "$2" --port 0 ${log}; done`;
    const bash = ['bash', '-c', script, process.execPath, MAIN, dataDir];
    const [command, ...args] = canMount ? ['unshare', '-r', '-m', ...bash] : bash;
    // The shell tells of what was killed.
    shell = spawn(command as string, args, { stdio: ['pipe', 'inherit', 'ignore', 'ipc'] });
  }

  async function start(): Promise<Message> {
    shell.stdin?.write('start\n');
    for (;;) {
      const [message] = (await once(shell, 'message')) as [Message | string];
      // The text is for pm2.
      if (typeof message !== 'string') return message;
    }
  }

  it('answers so, keeps what was acknowledged, starts again, reads and removes', async () => {
    openShell(SMALL_DISK);
    let stored = 0;
    await withRows((await start()).uri ?? '', async (rows, client) => {
      const failures: MongoServerError[] = [];
      for (const size of [20_000, 3_000, 10]) {
        let failure: MongoServerError | undefined;
        while (!failure)
          await rows.insertOne({ _id: stored, pad: 'x'.repeat(size) }).then(
            () => {
              stored++;
            },
            (error) => {
              failure = error;
            },
          );
        failures.push(failure);
      }
      for (const failure of failures) expect(failure).to.include({ code: 14031, codeName: 'OutOfDiskSpace' });
      expect(stored).to.be.above(50);
      expect(await rows.countDocuments()).to.equal(stored);
      const { pid } = await client.db('admin').command({ serverStatus: 1 });
      process.kill(Number(pid), 'SIGKILL');
    });
    const again = await start();
    expect(again).to.include({ type: 'ready' });
    await withRows(again.uri ?? '', async (rows, client) => {
      expect(await rows.countDocuments()).to.equal(stored);
      for (let i = 0; i < 20; i++) expect((await rows.deleteOne({ _id: i })).deletedCount).to.equal(1);
      await rows.insertOne({ _id: -1, pad: 'x'.repeat(20_000) });
      expect(await rows.countDocuments()).to.equal(stored - 19);
      const { pid } = await client.db('admin').command({ serverStatus: 1 });
      process.kill(Number(pid), 'SIGTERM');
    });
  });

  it('a first start without room fails by one clear line', async () => {
    openShell('ulimit -f 0');
    expect(await start()).to.deep.equal({
      type: 'failed',
      message: `${dataDir}/mongo cannot be opened: there is no space left on its disk`,
    });
  });
});
