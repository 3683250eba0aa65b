import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { loadConfig } from '../../../domain/platform/settings/config.js';
import { judgeEngine, judgeNode } from '../../../scripts/doctor/machine.js';
import {
  judgeAccess,
  judgeBuffer,
  judgeMemory,
  judgePersistence,
  judgeVersion,
} from '../../../scripts/doctor/redis.js';
import { hasRedisServer, startRedis } from '../../support/redis.js';
import { service } from '../../support/service.js';
import { startServiceProcess } from '../../support/service-process.js';
import { runHere, runScript } from '../script-runs.js';
import { startBadProxy } from './bad-proxy.js';
import { examine, serviceSettings } from './examine.js';

const engines = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')).engines.node;

describe('npm run doctor', () => {
  it('finds nothing wrong with a service that runs', async () => {
    const settings = await serviceSettings();
    const { status, stdout } = await runScript('scripts/doctor.js', [], settings);
    const lines = stdout.split('\n');
    expect(status, stdout).to.equal(0);
    // A single server; a disk or a limit of files may be small here, and uWebSockets.js has no binary for every Node.
    const expected = /^warning +(?:database|disk|open files|engine) /;
    expect(lines.filter((line) => /^(?:warning|failure)/.test(line) && !expected.test(line))).to.deep.equal(
      [],
    );
    for (const check of ['http port', 'gateway port', 'indexes', 'token', 'event stream', 'socket', 'sticky'])
      expect(
        lines.filter((line) => line.startsWith(`ok       ${check} `)),
        check,
      ).to.have.length(1);
    expect(stdout).to.not.include('\u001B');
    expect(stdout).to.match(/\n\n0 failures, \d+ warnings?, \d+ skipped, \d+ ok\n$/);
  });

  it('finds invalid settings, each by its line, and skips what needs them', async () => {
    const { DATA_DIR = '' } = await serviceSettings();
    const { status, lines } = await examine({ DATA_DIR, HTTP_PORT: 'x', REDIS_ADAPTER: 'y' });
    expect(status).to.equal(1);
    expect(lines.settings?.split('\n').map((line) => /^failure: (\w+): /.exec(line)?.[1])).to.deep.equal([
      'HTTP_PORT',
      'REDIS_ADAPTER',
    ]);
    expect(lines.database).to.equal('skipped: the settings are invalid');
    expect(lines.engine).to.equal('skipped: the settings are invalid');
  });

  it('finds an unsupported version of Node', () => {
    expect(judgeNode(process.versions.node, engines).result).to.equal('ok');
    expect(judgeNode('18.20.8', engines).result).to.equal('failure');
    expect(judgeNode('20.18.3', '^20.19.0 || ^22.12.0').result).to.equal('failure');
    expect(judgeNode('23.1.0', '^20.19.0 || ^22.12.0').result).to.equal('failure');
    expect(judgeNode('22.12.0', '^20.19.0 || ^22.12.0').result).to.equal('ok');
    expect(judgeNode('27.0.1', '^20.19.0 || >=22.12.0').result).to.equal('ok');
  });

  it('names what sockets run on: as the setting and the binary say, and what serves', () => {
    expect(judgeEngine('ws', {}, undefined)).to.deep.equal({
      result: 'ok',
      text: 'ws, as GATEWAY_ENGINE says',
    });
    expect(judgeEngine('ws', {}, 'ws').text).to.equal('ws, as GATEWAY_ENGINE says, and serves');
    expect(judgeEngine('auto', { statusInPieces: 200 }, 'uws')).to.deep.equal({
      result: 'ok',
      text: 'uWebSockets.js loads, and serves',
    });
    expect(judgeEngine('auto', { statusInPieces: 505 }, 'uws')).to.include({
      result: 'warning',
      text: 'uWebSockets.js loads, and serves, but is old: it answers 505 to a request line that arrives in pieces',
    });
    expect(judgeEngine('auto', { fault: 'Error: no binary' }, 'ws')).to.include({ result: 'warning' });
    expect(judgeEngine('uws', { fault: 'Error: no binary' }, 'uws')).to.include({ result: 'failure' });
    expect(judgeEngine('ws', {}, 'uws')).to.include({
      result: 'warning',
      text: 'the gateway runs on uws; one that starts here would run on ws',
    });
  });

  it('finds few open files, a port that another program holds, and equal ports', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const { DATA_DIR = '' } = await serviceSettings();
    const program = join(projectRoot(), 'dist/scripts/doctor.js');
    const child = spawn('/bin/sh', ['-c', `ulimit -n 256 && exec "$0" "$@"`, process.execPath, program], {
      cwd: DATA_DIR,
      env: { PATH: process.env.PATH, DATA_DIR, HTTP_PORT: port, GATEWAY_PORT: port },
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    const [status] = await once(child, 'close');
    other.close();
    expect(status).to.equal(1);
    expect(stdout).to.match(/^failure +open files +.* may open 256 files.* → LimitNOFILE=/m);
    const holder = process.platform === 'linux' ? `process ${process.pid} \\(.*\\)` : 'another program';
    expect(stdout).to.match(
      new RegExp(`^failure +http port .*127.0.0.1:${port} is taken by .*${holder}.* → `, 'm'),
    );
    expect(stdout).to.match(new RegExp(`^failure +gateway port +GATEWAY_PORT is HTTP_PORT, ${port} → `, 'm'));
  });

  it('finds a proxy that buffers, passes no sockets, is not sticky, shows metrics and has a wrong clock', async () => {
    const { gateway } = await service();
    const other = await startServiceProcess();
    const proxy = await startBadProxy([gateway, other.gateway]);
    const { http } = await service();
    const buffering = await startBadProxy([http], { isBuffering: true, secondsAhead: 3_600 });
    try {
      const addresses = ['--url', buffering.url, '--gateway-url', proxy.url];
      const { status, lines } = await examine(await serviceSettings(), addresses);
      expect(status).to.equal(1);
      expect(lines['event stream']).to.match(
        /^failure: the proxy holds the event stream back: .* → proxy_buffering off/,
      );
      expect(lines.socket).to.match(
        /^failure: no WebSocket to 127.0.0.1:\d+: .* → the proxy must pass Upgrade/,
      );
      expect(lines.sticky).to.match(
        /^failure: not sticky: request \d of a long-polling session .*\(400\) → /,
      );
      expect(lines['clock of address']).to.match(
        /^failure: the clock of the public address is 3\d{3}\.\d s ahead/,
      );
      expect(lines.metrics).to.match(/^warning: everybody can read \/metrics → /);
      expect(lines.address).to.match(/^ok: /);

      // The other service has another key, and its sockets another address.
      const wrongKey = await examine(await serviceSettings(), ['--url', other.http]);
      expect(wrongKey.lines.token).to.match(
        /^failure: .* refuses a token .*: UNAUTHORIZED: .* → all processes need/,
      );
      expect(wrongKey.lines['event stream']).to.equal('skipped: no token is accepted');
      expect(wrongKey.lines.socket).to.match(
        /: the answer is 404 → the proxy must .*, or give --gateway-url, /,
      );
      expect(wrongKey.lines.sticky).to.match(/ answers 404 → the proxy’s rules .*, or give --gateway-url, /);
    } finally {
      await proxy.close();
      await buffering.close();
      await other.stop();
    }
  });

  it('finds a database, a Redis and a key set that are away, without their passwords', async () => {
    const { DATA_DIR = '' } = await serviceSettings();
    const { status, lines, output } = await examine({
      DATA_DIR,
      HTTP_PORT: '0',
      GATEWAY_PORT: '0',
      MONGODB_URI: 'mongodb://member:hidden@127.0.0.1:9/adoption?w=1',
      REDIS_URL: 'redis://:hidden@127.0.0.1:9',
      JWKS_URL: 'http://member:hidden@127.0.0.1:9/keys?key=hidden',
    });
    expect(status).to.equal(1);
    expect(lines.database).to.match(/^failure: MongoDB at 127.0.0.1:9 cannot be used: .*ECONNREFUSED/);
    expect(lines.redis).to.match(/^failure: Redis at 127.0.0.1:9 cannot be used: .*ECONNREFUSED/);
    expect(lines.key).to.match(/^failure: the key set: 127.0.0.1:9 refuses connections → check JWKS_URL/);
    expect(lines.indexes).to.equal('skipped: the database cannot be read');
    expect(lines['redis memory']).to.equal('skipped: Redis cannot be read');
    expect(lines.token).to.equal('skipped: tokens are signed elsewhere: give one with --token');
    expect(output).to.not.include('hidden');
  });

  it('finds a Redis that evicts, asks for no password and publishes each write', async function () {
    if (!hasRedisServer) this.skip();
    const eviction = ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'];
    const redis = await startRedis([
      ...eviction,
      '--notify-keyspace-events',
      'KEA',
      '--protected-mode',
      'no',
      '--client-output-buffer-limit',
      'pubsub 1mb 1mb 10',
    ]);
    try {
      const { status, lines } = await examine({ ...(await serviceSettings()), REDIS_URL: redis.url });
      expect(status).to.equal(1);
      expect(lines.redis).to.match(/^ok: Redis \d/);
      expect(lines['redis memory']).to.match(
        /^failure: maxmemory-policy is allkeys-lru: .* → maxmemory-policy noevic/,
      );
      expect(lines['redis events']).to.match(/^warning: notify-keyspace-events is /);
      expect(lines['redis buffer']).to.match(
        /^warning: client-output-buffer-limit pubsub is 1048576 1048576 10: .* → .*pubsub 32mb 8mb 60/,
      );
      expect(lines['redis access']).to.match(/^warning: it asks for no password: .* → requirepass/);
      expect(lines['redis signing key']).to.match(/^warning: REDIS_SIGNING_KEY is not set/);
      expect(lines['redis persistence']).to.match(/^ok: off/);
      expect(lines['clock of redis']).to.match(/^ok: /);
    } finally {
      await redis.stop();
    }
  });

  it('finds a Redis that closes subscribers sooner than by default', () => {
    const judge = (limits: string) =>
      judgeBuffer({
        settings: { 'client-output-buffer-limit': `normal 0 0 0 slave 1 1 1 pubsub ${limits}` },
      }).result;
    // Redis's defaults, and no limits.
    expect(judge('33554432 8388608 60')).to.equal('ok');
    expect(judge('0 0 0')).to.equal('ok');
    expect(judge('67108864 33554432 10')).to.equal('ok');
    expect(judge('1048576 0 0')).to.equal('warning');
    expect(judge('33554432 1048576 60')).to.equal('warning');
    expect(judge('33554432 8388608 10')).to.equal('warning');
    expect(() => judgeBuffer({ settings: undefined })).to.throw('may not read CONFIG: ');
    expect(() => judgeBuffer({ settings: {} })).to.throw('tells no client-output-buffer-limit');
  });

  it('finds a Redis that is too old', () => {
    const judge = (version: string, adapter: 'classic' | 'sharded' = 'classic') =>
      judgeVersion({ info: { redis_version: version }, settings: undefined, skewMs: 0 }, adapter).result;
    expect(judge('6.0.16')).to.equal('failure');
    expect(judge('6.2.0')).to.equal('warning');
    expect(judge('6.2.0', 'sharded')).to.equal('failure');
    expect(judge('7.0.15', 'sharded')).to.equal('ok');
  });

  it('finds a Redis that is nearly full, cannot save, or is reached over the network in the clear', () => {
    const settings = {
      'maxmemory-policy': 'noeviction',
      maxmemory: '100',
      save: '',
      appendonly: 'no',
      bind: '*',
    };
    const facts = { info: { used_memory: '90' }, settings, skewMs: 0 };
    expect(judgeMemory(facts)).to.include({ result: 'warning' });
    expect(judgeMemory({ ...facts, info: { used_memory: '10' } })).to.include({ result: 'ok' });
    expect(() => judgeMemory({ ...facts, settings: undefined })).to.throw('may not read CONFIG');
    expect(judgePersistence({ ...facts, info: { rdb_last_bgsave_status: 'err' } }).result).to.equal(
      'failure',
    );
    expect(judgePersistence({ ...facts, info: { rdb_last_bgsave_status: 'ok' } }).result).to.equal('ok');
    const access = (url: string, mode: string) =>
      judgeAccess(
        { ...facts, settings: { ...settings, 'protected-mode': mode } },
        loadConfig({ REDIS_URL: url }, projectRoot()),
      ).result;
    expect(access('redis://redis.example.org', 'no')).to.equal('failure');
    expect(access('redis://:word@redis.example.org', 'no')).to.equal('warning');
    expect(access('rediss://:word@redis.example.org', 'no')).to.equal('ok');
  });

  it('finds a dropped index, a refused token, and backups that are missing or old', async () => {
    const settings = await serviceSettings();
    const folder = join(settings.DATA_DIR ?? '', 'dumps');
    // A dump that was interrupted is none.
    mkdirSync(join(folder, 'today', 'adoption.unfinished'), { recursive: true });
    writeFileSync(join(folder, 'monday.gz'), '');
    utimesSync(join(folder, 'monday.gz'), 0, Date.now() / 1_000 - 3 * 24 * 3_600);
    const messages = mongoose.connection.collection('messages');
    await messages.dropIndex('chatNo_1_seq_1');
    const { status, lines } = await examine(settings, ['--token', 'no.token.atall', '--backups', folder]);
    await messages.createIndex({ chatNo: 1, seq: 1 }, { unique: true });
    expect(status).to.equal(1);
    expect(lines.indexes).to.match(
      /^failure: missing: messages \{"chatNo":1,"seq":1\} unique: .* → npm run verify/,
    );
    expect(lines.token).to.match(
      /^failure: this configuration refuses the token: UNAUTHORIZED: .* → JWT_SECRET/,
    );
    expect(lines.backup).to.match(/^warning: the newest backup in \S+ is 3 days old → /);

    const { DATA_DIR = '' } = settings;
    const embedded = await examine({ DATA_DIR, HTTP_PORT: '0', GATEWAY_PORT: '0' });
    expect(embedded.lines.backup).to.match(/^warning: no backup in \S+backups → npm run db -- dump/);
    expect(embedded.lines.database).to.match(/^skipped: no embedded database in /);
  });

  it('refuses wrong arguments with status 2', async () => {
    const settings = await serviceSettings();
    const wrong = await runHere('scripts/doctor.js', ['--url', 'example.org'], settings);
    expect(wrong).to.deep.equal({ status: 2, stdout: '', stderr: '--url: must be an http or https URL\n' });
  });
});
