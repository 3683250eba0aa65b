import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Metric } from '../../../scripts/load/metrics.js';
import type { Report } from '../../../scripts/load/report/page.js';
import { startServiceProcess } from '../../support/service-process.js';
import { runScript, spawnScript } from '../script-runs.js';

/** As small as can be: it is the form that counts, and that everything arrives. */
const TINY = ['--seconds', '1', '--runs', '1', '--clients', '1'];

const SECRET = 'a secret of the tests, long enough for HS256';

describe('npm run load', function () {
  this.timeout(120_000);
  let folder: string;
  let settings: Record<string, string>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-test-load-'));
    settings = { DATA_DIR: folder, TMPDIR: folder };
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function load(...args: string[]): Promise<Report> {
    const json = join(folder, 'out.json');
    const html = join(folder, 'out.html');
    const run = await runScript(
      'scripts/load.js',
      [...args, ...TINY, '--json', json, '--html', html],
      settings,
    );
    expect(run, run.stderr).to.include({ status: 0, stderr: '' });
    expect(run.stdout).to.match(new RegExp(`^${args[0]}: `));
    expect(readFileSync(html, 'utf8'))
      .to.match(/^<!doctype html>/)
      .and.include('<svg');
    expect(readdirSync(folder).filter((name) => name.startsWith('adoption-load-'))).to.deep.equal([]);
    return JSON.parse(readFileSync(json, 'utf8')) as Report;
  }

  /** Everything arrived, and each has the figures of these metrics. */
  function expectFigures({ results }: Report, names: string[], wanted: Metric[]): void {
    expect(results.map(({ name }) => name)).to.include.members(names);
    for (const { name, part, missing, figures } of results) {
      if (missing) continue;
      expect(figures.lost?.median, `${name} ${part} lost`).to.equal(0);
      for (const metric of wanted) {
        expect(figures[metric]?.runs, `${name} ${part} ${metric}`).to.have.length(1);
        expect(figures[metric]?.median, `${name} ${part} ${metric}`).to.be.a('number');
      }
    }
  }

  it('fanout: ours, the limit and all peers', async () => {
    const report = await load('fanout', '--members', '10', '--rate', '50', '--only', 'bursts');
    expect(report).to.include({ scenario: 'fanout' });
    expect(report.machine.cores).to.be.greaterThan(0);
    const names = [
      'this service',
      'bare uWebSockets.js',
      'plain ws',
      'Socket.IO on ws',
      'nchan',
      'mosquitto (MQTT, QoS 0)',
    ];
    expectFigures(report, names, ['cpu', 'delivered', 'perSecond', 'p50', 'p99', 'p999', 'memory']);
    for (const { missing, figures } of report.results) {
      if (!missing) expect(figures.delivered?.median).to.equal(500);
    }
    expect(report.results.map(({ role }) => role)).to.include.members(['ours', 'limit', 'peer']);
    expect(report.verdicts.map(({ bound }) => bound)).to.deep.equal([1.4, 4, 1, 1.4, 4, 1]);
  });

  it('chat: ours, the floor, the textbook server and the bare driver', async () => {
    const report = await load(
      'chat',
      '--rooms',
      '4',
      '--rate',
      '50',
      '--only',
      'acks allow|this service|driver',
    );
    const names = [
      'this service',
      'floor: bare uWS + grouped inserts',
      'textbook: Socket.IO on ws',
      'bare driver, insertOne alone',
    ];
    expectFigures(report, names, ['cpu', 'databaseCpu', 'delivered', 'p50', 'p99']);
    expect(report.verdicts.every(({ value }) => value !== undefined)).to.equal(true);
  });

  it('announce: sockets and event streams, beside bare publish and bare res.write', async () => {
    const report = await load(
      'announce',
      ...['--members', '6', '--streams', '4', '--only', 'to sockets|res.write'],
    );
    expectFigures(report, ['this service', 'bare uWebSockets.js', 'bare res.write'], ['cpu', 'delivered']);
  });

  it('idle: memory of sockets and of streams', async () => {
    const report = await load('idle', '--members', '20', '--streams', '10', '--only', 'uWS|service, event');
    const names = ['this service', 'bare Socket.IO on uWS'];
    expectFigures(report, names, ['memory', 'cpu', 'delivered']);
  });

  it('http: reads of the service and of a bare route', async () => {
    const report = await load('http', '--only', 'notification/all');
    expect(report.results).to.have.length(2);
    expectFigures(report, ['this service', 'bare Koa route'], ['cpu', 'databaseCpu', 'perSecond', 'p99']);
  });

  it('cluster: gateways over Redis, and one without members of the room', async () => {
    const report = await load(
      'cluster',
      ...['--members', '8', '--rooms', '3', '--rate', '20'],
      ...['--only', '2 gateways, sharded|classic, two-party'],
    );
    expectFigures(report, ['2 gateways, sharded', 'classic'], ['cpu', 'delivered']);
  });

  it('storm: everybody is back', async () => {
    const report = await load('storm', '--members', '20', '--only', 'this service|uWS');
    expectFigures(report, ['this service', 'bare Socket.IO on uWS'], ['cpu', 'duration']);
  });

  it('database: lmdb beside its memory twin and lmdb alone', async () => {
    const report = await load('database', '--documents', '2000');
    expectFigures(report, ['embedded database on lmdb', 'its memory twin', 'bare lmdb loop'], ['delivered']);
    expect(report.verdicts.every(({ value }) => value !== undefined)).to.equal(true);
  });

  it('loads an installation that runs already', async () => {
    const service = await startServiceProcess({ RATE_LIMIT: 'off', JWT_SECRET: SECRET });
    try {
      const where = ['--http', service.http, '--gateway', service.gateway, '--secret', SECRET];
      const report = await load('chat', '--rooms', '3', '--rate', '30', ...where);
      expectFigures(report, ['this service'], ['delivered', 'p50', 'p99']);
      expect(report.verdicts).to.deep.equal([]);
    } finally {
      await service.stop();
    }
  });

  it('names a scenario that does not exist, and options that are wrong', async () => {
    expect(await runScript('scripts/load.js', ['nothing'], settings)).to.include({ status: 2, stdout: '' });
    const { status, stderr } = await runScript('scripts/load.js', ['chat', '--runs', 'many'], settings);
    expect(status).to.equal(2);
    expect(stderr).to.match(/--runs: must be a whole number/);
  });

  it('leaves nothing behind when it is interrupted', async () => {
    const child = spawnScript('scripts/load.js', ['fanout', '--members', '10', ...TINY], settings);
    const running = () => readdirSync(folder).some((name) => name.startsWith('adoption-load-'));
    while (!running()) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGINT');
    const status = await new Promise((resolve) => child.once('exit', resolve));
    expect(status).to.equal(130);
    expect(running()).to.equal(false);
  });
});
