import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Metric } from '../../../scripts/load/metrics.js';
import type { Report } from '../../../scripts/load/report/page.js';
import { startServiceProcess } from '../../support/service-process.js';
import { runScript, spawnScript } from '../script-runs.js';

/** As small as can be: it is the form that counts, and that everything arrives. */
const TINY = ['--seconds', '0.4', '--runs', '1', '--clients', '1'];

const SECRET = 'a secret of the tests, long enough for HS256';

/** Loads that run at the same time: each mostly waits, for processes that start and for seconds that pass. */
const AT_ONCE = 3;

const scenarios = {
  fanout: ['--members', '10', '--rate', '50', '--only', 'bursts'],
  chat: ['--rooms', '4', '--rate', '50', '--only', 'acks allow|this service|driver'],
  announce: ['--members', '6', '--streams', '4', '--only', 'to sockets|res.write'],
  idle: ['--members', '20', '--streams', '10', '--only', 'uWS|service, event'],
  http: ['--only', 'notification/all'],
  cluster: [
    ...['--members', '8', '--rooms', '3', '--rate', '20'],
    ...['--only', '2 gateways, sharded|classic, two-party'],
  ],
  storm: ['--members', '20', '--only', 'this service|uWS'],
  database: ['--documents', '2000'],
};
type Name = keyof typeof scenarios;

/** Runs a scenario in a folder of its own. @returns the report, once its table, its page and its cleaning up are right */
async function load(name: Name, args: string[]): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-test-load-'));
  try {
    const [json, html] = [join(folder, 'out.json'), join(folder, 'out.html')];
    const run = await runScript('scripts/load.js', [name, ...args, ...TINY, '--json', json, '--html', html], {
      DATA_DIR: folder,
      TMPDIR: folder,
    });
    expect(run, run.stderr).to.include({ status: 0, stderr: '' });
    expect(run.stdout).to.match(new RegExp(`^${name}: `));
    expect(readFileSync(html, 'utf8'))
      .to.match(/^<!doctype html>/)
      .and.include('<svg');
    expect(readdirSync(folder).filter((one) => one.startsWith('adoption-load-'))).to.deep.equal([]);
    return JSON.parse(readFileSync(json, 'utf8')) as Report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('npm run load', function () {
  this.timeout(120_000);
  const reports = {} as Record<Name, Promise<Report>>;

  before(() => {
    const names = Object.keys(scenarios) as Name[];
    const started: Promise<unknown>[] = [];
    for (const [i, name] of names.entries()) {
      const turn = (started[i - AT_ONCE] ?? Promise.resolve()).catch(() => undefined);
      reports[name] = turn.then(() => load(name, scenarios[name]));
      started.push(reports[name]);
      // Awaited by its own test, which may be later than its failure.
      reports[name].catch(() => undefined);
    }
  });

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
    const report = await reports.fanout;
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
      if (!missing) expect(figures.delivered?.median).to.equal(200);
    }
    expect(report.results.map(({ role }) => role)).to.include.members(['ours', 'limit', 'peer']);
    expect(report.verdicts.map(({ bound }) => bound)).to.deep.equal([1.4, 4, 1, 1.4, 4, 1]);
  });

  it('chat: ours, the floor, the textbook server and the bare driver', async () => {
    const report = await reports.chat;
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
    const report = await reports.announce;
    expectFigures(report, ['this service', 'bare uWebSockets.js', 'bare res.write'], ['cpu', 'delivered']);
  });

  it('idle: memory of sockets and of streams', async () => {
    const report = await reports.idle;
    const names = ['this service', 'bare Socket.IO on uWS'];
    expectFigures(report, names, ['memory', 'cpu', 'delivered']);
  });

  it('http: reads of the service and of a bare route', async () => {
    const report = await reports.http;
    expect(report.results).to.have.length(2);
    expectFigures(report, ['this service', 'bare Koa route'], ['cpu', 'databaseCpu', 'perSecond', 'p99']);
  });

  it('cluster: gateways over Redis, and one without members of the room', async () => {
    const report = await reports.cluster;
    expectFigures(report, ['2 gateways, sharded', 'classic'], ['cpu', 'delivered']);
  });

  it('storm: everybody is back', async () => {
    const report = await reports.storm;
    expectFigures(report, ['this service', 'bare Socket.IO on uWS'], ['cpu', 'duration']);
  });

  it('database: lmdb beside its memory twin and lmdb alone', async () => {
    const report = await reports.database;
    expectFigures(report, ['embedded database on lmdb', 'its memory twin', 'bare lmdb loop'], ['delivered']);
    expect(report.verdicts.every(({ value }) => value !== undefined)).to.equal(true);
  });

  it('loads an installation that runs already', async () => {
    const service = await startServiceProcess({ RATE_LIMIT: 'off', JWT_SECRET: SECRET });
    try {
      const where = ['--http', service.http, '--gateway', service.gateway, '--secret', SECRET];
      const report = await load('chat', ['--rooms', '3', '--rate', '30', ...where]);
      expectFigures(report, ['this service'], ['delivered', 'p50', 'p99']);
      expect(report.verdicts).to.deep.equal([]);
    } finally {
      await service.stop();
    }
  });

  it('names a scenario that does not exist, and options that are wrong', async () => {
    expect(await runScript('scripts/load.js', ['nothing'], {})).to.include({ status: 2, stdout: '' });
    const { status, stderr } = await runScript('scripts/load.js', ['chat', '--runs', 'many'], {});
    expect(status).to.equal(2);
    expect(stderr).to.match(/--runs: must be a whole number/);
  });

  it('leaves nothing behind when it is interrupted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-load-'));
    const settings = { DATA_DIR: folder, TMPDIR: folder };
    const child = spawnScript('scripts/load.js', ['fanout', '--members', '10', ...TINY], settings);
    const running = () => readdirSync(folder).some((name) => name.startsWith('adoption-load-'));
    while (!running()) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGINT');
    const status = await new Promise((resolve) => child.once('exit', resolve));
    expect(status).to.equal(130);
    expect(running()).to.equal(false);
    rmSync(folder, { recursive: true, force: true });
  });
});
