import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openEmbeddedMongo } from 'embedded-mongo';
import { holdOwner } from 'embedded-mongo/lock';
import { issueToken } from '../../../domain/members/index.js';
import { loadConfig } from '../../../domain/platform/settings/config.js';
import { freePort } from '../../../scripts/command/ports.js';
import { compiled, endWithTests, runProgram } from '../../support/child-process.js';
import { eventually } from '../../support/eventually.js';
import { isReady, type RestClient, restClient } from '../../support/rest.js';

/** Time, in ms, within which a service has its database again. */
const BACK_MS = 10_000;

/** `npm start` with the embedded database of a folder of its own. Each test continues with the service of the one before. */
describe('npm start when its embedded database is killed', () => {
  let dataDir: string;
  let env: Record<string, string>;
  let http: string;
  let service: ChildProcess;
  let log: string;
  let writer: RestClient;

  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'adoption-lost-'));
    env = {
      NODE_ENV: 'test',
      DATA_DIR: dataDir,
      HTTP_PORT: String(await freePort()),
      GATEWAY_PORT: String(await freePort()),
      JWT_SECRET: 'a secret of the lost database, long enough for HS256',
      DEMO: 'off',
      LOAD_SHEDDING: 'off',
      LOG_LEVEL: 'info',
      // For the database that the service starts.
      NODE_OPTIONS: `--import=${compiled('../packages/embedded-mongo/dist/test/support/fail-on-signal.js').href}`,
    };
    http = `http://127.0.0.1:${env.HTTP_PORT}`;
    const token = await issueToken(loadConfig(env, dataDir), { email: 'writer@example.org', ttl: '1h' });
    writer = restClient(() => http, token);
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

  const run = (path: string, args: string[] = [], settings: Record<string, string> = {}) =>
    runProgram({ path, args, folder: dataDir, env: { ...env, ...settings } });

  async function startService(): Promise<void> {
    service = spawn(process.execPath, [fileURLToPath(compiled('scripts/start.js'))], {
      cwd: dataDir,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithTests(service);
    log = '';
    for (const output of [service.stdout, service.stderr])
      output?.on('data', (part) => {
        log += part;
      });
    await eventually(async () => expect(await isReady(http), log).to.equal(true));
  }

  async function killDatabase(): Promise<void> {
    const hold = await holdOwner(join(dataDir, 'mongo'));
    process.kill(hold?.pid as number, 'SIGKILL');
    await hold?.lost;
  }

  const write = async (title: string) =>
    (await writer.post('/community/article', { categoryId: 1, title, context: 'text' })).status;

  it('keeps the database when the command that opened it ends', async () => {
    const file = join(dataDir, 'members.json');
    writeFileSync(file, JSON.stringify([{ record: 'member', email: 'a@example.org', nickname: 'a' }]));
    // Holds the database open beyond the start of the service, as a long import does.
    const command = await openEmbeddedMongo(dataDir, { database: 'adoption' });
    await startService();
    const owner = await holdOwner(join(dataDir, 'mongo'));
    await command.close();
    for (let n = 0; n < 10; n += 1) expect(await write(`title ${n}`)).to.equal(200);
    // A command beside the service uses its database and leaves it running.
    expect((await run('scripts/import.js', [file])).status).to.equal(0);
    expect(await write('after the import')).to.equal(200);
    const still = await holdOwner(join(dataDir, 'mongo'));
    expect(still?.pid).to.equal(owner?.pid);
    await Promise.all([owner?.release(), still?.release()]);
  });

  it('answers 503, has its database again within seconds, and keeps everything that it acknowledged', async () => {
    const acknowledged: string[] = [];
    const others = new Set<number>();
    /** Writes until the database is back: five more writes have succeeded. */
    async function writeUntilBack(round: number): Promise<void> {
      const until = Date.now() + BACK_MS;
      for (let n = 0, after = 0; after < 5; n += 1) {
        const title = `title ${round} ${n}`;
        const status = await write(title);
        if (status === 200) acknowledged.push(title);
        else others.add(status);
        if (n > 5 && status === 200) after += 1;
        if (Date.now() > until) throw new Error(`not back after ${BACK_MS} ms:\n${log}`);
      }
    }
    for (let round = 0; round < 3; round += 1) await Promise.all([killDatabase(), writeUntilBack(round)]);
    expect([...others].filter((status) => status !== 503)).to.deep.equal([]);
    expect(service.exitCode).to.equal(null);
    const { body } = await writer.get<{ list: { title: string }[] }>('/community/list/recent?size=50');
    expect(body.list.map(({ title }) => title)).to.include.members(acknowledged.slice(-20));
    expect(log).to.include('the embedded database is gone: starting it again');
  });

  it('has it again also after a commit that failed at its root page; no answer lacks what it acknowledged', async () => {
    const hold = await holdOwner(join(dataDir, 'mongo'));
    const others = new Set<number>();
    const read = () => writer.get<{ list: { title: string }[] }>('/community/list/recent?size=50');
    let acknowledged: string | undefined;
    let isBack = false;
    process.kill(hold?.pid as number, 'SIGUSR2');
    const until = Date.now() + BACK_MS;
    for (let n = 0; !isBack; n += 1) {
      const title = `title at the root ${n}`;
      const [status, { status: readStatus, body }] = await Promise.all([write(title), read()]);
      if (readStatus !== 200) others.add(readStatus);
      else if (acknowledged) expect(body.list.map((article) => article.title)).to.include(acknowledged);
      isBack = status === 200 && others.size > 0;
      if (status === 200) acknowledged = title;
      else others.add(status);
      if (Date.now() > until) throw new Error(`not back after ${BACK_MS} ms:\n${log}`);
    }
    await hold?.lost;
    expect([...others]).to.deep.equal([503]);
    const databaseLog = readFileSync(join(dataDir, 'logs', 'database.log'), 'utf8');
    const last = databaseLog.split('\n').find((line) => line.includes('"level":"fatal"'));
    expect(last).to.include('LMDB refuses to go on: ending').and.include('No space left on device');
    expect(service.exitCode).to.equal(null);
  });

  it('50: ends with status 1 where its ports are taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const settings = { DATA_DIR: join(dataDir, 'other'), METRICS_PORT: String(port) };
    const { status, output } = await run('scripts/start.js', [], settings);
    other.close();
    const by = `is taken by process ${service.pid} (node ${fileURLToPath(compiled('scripts/start.js'))})`;
    const lines = output.split('\n');
    expect(lines.slice(0, 2)).to.deep.equal(
      ['HTTP_PORT', 'GATEWAY_PORT'].map((name) => `${name}: 127.0.0.1:${env[name]} ${by}`),
    );
    expect(lines[2]).to.match(new RegExp(`^METRICS_PORT: 127.0.0.1:${port} is taken by .*${process.pid}`));
    expect(lines.slice(3)).to.deep.equal(['']);
    expect(status).to.equal(1);
    expect(readdirSync(join(dataDir, 'other', 'mongo')), 'no database was begun').to.deep.equal([]);
  });

  it('ends with status 1 where another service uses its data; that one continues', async () => {
    const { status, output } = await run('scripts/start.js', [], { HTTP_PORT: '0', GATEWAY_PORT: '0' });
    expect(output).to.include(
      `DATA_DIR: process ${service.pid} serves ${dataDir} already: stop it, or choose another\n`,
    );
    expect(status).to.equal(1);
    expect(await write('after the second start')).to.equal(200);
    service.kill('SIGKILL');
    await once(service, 'exit');
    await startService();
  });

  it('ends with status 1 when the database cannot be started again', async () => {
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
