import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { issueToken } from '../../../domain/members/index.js';
import { loadConfig } from '../../../domain/platform/config.js';
import { holdOwner } from '../../../scripts/embedded-mongo/lock.js';
import { openEmbeddedMongo } from '../../../scripts/embedded-mongo/open.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/redis.js';

const START = fileURLToPath(new URL('../../../scripts/start.js', import.meta.url));
const IMPORT = fileURLToPath(new URL('../../../scripts/import.js', import.meta.url));

/** Within this time, in ms, a service has its database again. */
const BACK_MS = 10_000;

/** `npm start` as its user runs it, with the embedded database of a folder of its own; each test leaves it to the next. */
describe('npm start, when its embedded database is lost', () => {
  let dataDir: string;
  let env: Record<string, string>;
  let http: string;
  let service: ChildProcess;
  let log: string;
  let token: string;

  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'adoption-lost-'));
    const [httpPort, gatewayPort] = [await freePort(), await freePort()];
    env = {
      NODE_ENV: 'test',
      DATA_DIR: dataDir,
      HTTP_PORT: String(httpPort),
      GATEWAY_PORT: String(gatewayPort),
      JWT_SECRET: 'a secret of the lost database, long enough for HS256',
      DEMO: 'off',
      LOG_LEVEL: 'info',
    };
    http = `http://127.0.0.1:${httpPort}`;
    token = await issueToken(loadConfig(env, dataDir), { email: 'writer@example.org', ttl: '1h' });
  });
  after(async () => {
    if (service.exitCode === null) {
      service.kill('SIGTERM');
      await once(service, 'exit');
    }
    expect(await holdOwner(join(dataDir, 'mongo')), 'the database ends with its last user').to.equal(
      undefined,
    );
    rmSync(dataDir, { recursive: true, force: true });
  });

  const run = (script: string, ...args: string[]) =>
    spawn(process.execPath, [script, ...args], {
      cwd: dataDir,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  async function startService(): Promise<void> {
    service = run(START);
    log = '';
    for (const output of [service.stdout, service.stderr])
      output?.on('data', (part) => {
        log += part;
      });
    await eventually(async () => expect((await fetch(`${http}/readyz`)).status, log).to.equal(200), 15_000);
  }

  async function killDatabase(): Promise<void> {
    const hold = await holdOwner(join(dataDir, 'mongo'));
    process.kill(hold?.pid as number, 'SIGKILL');
    await hold?.lost;
  }

  async function write(title: string): Promise<number> {
    const answer = await fetch(`${http}/community/article`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: token },
      body: JSON.stringify({ categoryId: 1, title, context: 'text' }),
    });
    await answer.text();
    return answer.status;
  }

  async function titles(): Promise<string[]> {
    const answer = await fetch(`${http}/community/list/recent?size=50`);
    const { list } = (await answer.json()) as { list: { title: string }[] };
    return list.map(({ title }) => title);
  }

  it('goes on when it had joined the database of a command that ends', async () => {
    const file = join(dataDir, 'members.json');
    writeFileSync(file, JSON.stringify([{ record: 'member', email: 'a@example.org', nickname: 'a' }]));
    // Holds the database open past the start of the service, as a long import does.
    const command = await openEmbeddedMongo(dataDir);
    await startService();
    const owner = await holdOwner(join(dataDir, 'mongo'));
    await command.close();
    const statuses = [];
    for (let n = 0; n < 10; n++) statuses.push(await write(`title ${n}`));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    // A command beside the service joins it, and leaves it where it is.
    const imported = run(IMPORT, file);
    const [status] = await once(imported, 'close');
    expect(status).to.equal(0);
    expect(await write('after the import')).to.equal(200);
    const still = await holdOwner(join(dataDir, 'mongo'));
    expect(still?.pid).to.equal(owner?.pid);
    await Promise.all([owner?.letGo(), still?.letGo()]);
  });

  it('answers 503, has it again within seconds, and lost nothing that it acknowledged', async () => {
    const acknowledged: string[] = [];
    const others = new Set<number>();
    for (let round = 0; round < 3; round++) {
      const killed = killDatabase();
      const until = Date.now() + BACK_MS;
      for (let n = 0, after = 0; after < 5; n++) {
        const title = `title ${round} ${n}`;
        const status = await write(title);
        if (status === 200) acknowledged.push(title);
        else others.add(status);
        if (n > 5 && status === 200) after++;
        if (Date.now() > until) throw new Error(`not back after ${BACK_MS} ms:\n${log}`);
      }
      await killed;
    }
    expect([...others].filter((status) => status !== 503)).to.deep.equal([]);
    expect(service.exitCode).to.equal(null);
    const stored = await titles();
    for (const title of acknowledged.slice(-20)) expect(stored).to.include(title);
    expect(log).to.include('the embedded database is gone: starting it again');
  });

  /** What a start that must not succeed says. */
  async function refusal(settings: Record<string, string>): Promise<string> {
    const second = spawn(process.execPath, [START], {
      cwd: dataDir,
      env: { PATH: process.env.PATH, ...env, ...settings },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    second.stderr.on('data', (part) => {
      said += part;
    });
    const late = setTimeout(() => second.kill('SIGKILL'), BACK_MS);
    expect(await once(second, 'close'), said).to.deep.equal([1, null]);
    clearTimeout(late);
    return said;
  }

  it('ends with status 1 where its ports are taken', async () => {
    const said = await refusal({ DATA_DIR: join(dataDir, 'other') });
    expect(said).to.match(/^(GATEWAY|HTTP)_PORT: 127\.0\.0\.1:\d+ is taken\n$/);
  });

  it('ends with status 1 beside another one on its data, which goes on', async () => {
    const said = await refusal({ HTTP_PORT: '0', GATEWAY_PORT: '0' });
    expect(said).to.equal(
      `DATA_DIR: process ${service.pid} serves ${dataDir} already: stop it, or choose another\n`,
    );
    expect(await write('after the second start')).to.equal(200);
    service.kill('SIGKILL');
    await once(service, 'exit');
    await startService();
  });

  it('ends with status 1 when it cannot have one', async () => {
    const ended = once(service, 'close');
    const folder = join(dataDir, 'mongo');
    const hold = await holdOwner(folder);
    await rename(folder, `${folder}.away`);
    process.kill(hold?.pid as number, 'SIGKILL');
    expect(await ended).to.deep.equal([1, null]);
    await rename(`${folder}.away`, folder);
    expect(log).to.include('cannot be started again').and.include(`the data of ${folder} is gone`);
  });
});
