import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Metric } from '../../../scripts/load/metrics.js';
import { optionSchema } from '../../../scripts/load/options.js';
import { judge } from '../../../scripts/load/outcome.js';
import type { Report } from '../../../scripts/load/report.js';
import type { Result } from '../../../scripts/load/scenario.js';
import { findScenarios, scenarioNames } from '../../../scripts/load/scenarios/index.js';
import { runScript, spawnScript } from '../script-runs.js';
import { reportOf, resultsOf, withoutProgress } from './results.js';

/** As small as possible: only the form of the results and complete delivery are tested. */
const TINY = [
  ...['--seconds', '0.1', '--runs', '1', '--clients', '1', '--rate', '200'],
  ...['--members', '10', '--rooms', '3', '--streams', '4', '--documents', '1000', '--minutes', '0.01'],
];

/**
 * Each server and each kind of measurement once: starting a service takes over a second of CPU time. Two commands
 * run at the same time, as each waits often.
 */
const HALVES = [
  [
    // fanout and chat: ours are tested as an installation that runs already
    ...['plain ws, 10 sockets, bursts', 'nchan, 10 sockets, bursts', 'qos 0), 10 sockets, bursts'],
    ...['inserts, throughput', 'textbook: socket.io on ws, throughput', 'bare driver'],
    'get /notification/all',
    // database
    ...['database on lmdb, restarted', 'in memory, find', 'lmdb loop, insert'],
  ],
  [
    // announce
    ...['to sockets', 'res.write'],
    // idle, storm
    ...['socket.io on uws', 'this service, event streams'],
    // jitter, deploy
    'connection state recovery',
    // cluster
    ...['classic, two-party', 'a bare uwebsockets'],
    // silence
    'without a signing key',
    ...['half of what it carries, message', 'twice as much, get', 'this service, churn'],
  ],
];

/** Reports by the name of their scenario. */
type Reports = Map<string, Report>;

/** Runs all scenarios in a temporary folder, and checks tables and cleaning up. @returns the reports */
async function loadAll(args: string[]): Promise<Reports> {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-test-load-'));
  try {
    const json = join(folder, 'out.json');
    const settings = { DATA_DIR: folder, TMPDIR: folder };
    const options = [...TINY, ...args, '--json', json];
    const run = await runScript('scripts/load.js', ['all', ...options], settings);
    expect(run.status, run.stderr).to.equal(0);
    // No terminal: the plan of each scenario, and a line for each turn with what is left.
    const told = run.stderr.trimEnd().split('\n');
    for (const name of scenarioNames)
      expect(told.filter((line) => line.startsWith(`${name}: `))[0]).to.match(
        /: \d+ lines, \d+ turns of each, about \d+ (?:s|min); less with --only, /,
      );
    for (const line of told)
      expect(line).to.match(
        /^[a-z]+: (?:\d+ lines, |(?:turn \d+ of \d+|again): .+ \(about \d+ (?:s|min) left\)$)/,
      );
    for (const name of scenarioNames) expect(run.stdout).to.match(new RegExp(`^${name}: `, 'm'));
    expect(readdirSync(folder).filter((one) => one.startsWith('adoption-load-'))).to.deep.equal([]);
    const reports = JSON.parse(readFileSync(json, 'utf8')) as Report[];
    expect(reports.map(({ scenario }) => scenario)).to.deep.equal(scenarioNames);
    return new Map(reports.map((report) => [report.scenario, report]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Expects figures of these metrics, and complete delivery, except by a peer that is restarted. */
function expectFigures(reports: Reports, scenario: string, names: string[], wanted: Metric[]): Result[] {
  const { results, machine, units, provenance } = reports.get(scenario) as Report;
  expect(machine.cores).to.be.greaterThan(0);
  expect(provenance.versions).to.include.keys('ws', 'mongodb');
  expect(results.map(({ name }) => name)).to.have.members(names);
  const present = results.filter(({ missing }) => missing === undefined);
  // Without a binary of uWebSockets.js, peers on it are missing.
  if (present.length > 0) expect(units).to.include.keys(wanted);
  for (const { name, part, figures } of present) {
    if (scenario !== 'deploy') expect(figures.lost?.median, `${name} ${part} lost`).to.equal(0);
    for (const metric of wanted) {
      const times = scenario === 'soak' ? 2 : 1;
      expect(figures[metric]?.runs, `${name} ${part} ${metric}`).to.have.length(times);
      expect(figures[metric]?.median, `${name} ${part} ${metric}`).to.be.a('number');
    }
  }
  return present;
}

/** Expects latencies where something was served: on a busy machine all of so short a load may be refused for one of them. */
function expectLatencies(results: Result[]): void {
  const served = results.filter(({ figures }) => figures.delivered?.median);
  expect(served).to.not.be.empty;
  for (const { figures } of served)
    for (const metric of ['p50', 'p99'] as const) expect(figures[metric]?.median).to.be.a('number');
}

describe('npm run load', function () {
  this.timeout(180_000);

  let reports: Promise<Reports>;
  before(() => {
    const halves = HALVES.map((names) => loadAll(['--only', names.join('|')]));
    reports = Promise.all(halves).then(([one, other]) => {
      for (const [name, { results, units }] of other as Reports) {
        one?.get(name)?.results.push(...results);
        Object.assign(one?.get(name)?.units ?? {}, units);
      }
      return one as Reports;
    });
    // It may fail before the first test awaits it.
    reports.catch(() => undefined);
  });

  describe('-- all', () => {
    const scenarios: Record<string, [title: string, names: string[], wanted: Metric[]]> = {
      fanout: [
        'peers of each protocol',
        ['plain ws', 'nchan', 'mosquitto (MQTT, QoS 0)'],
        ['cpu', 'delivered', 'perSecond', 'p50', 'p99', 'p999', 'memory'],
      ],
      chat: [
        'the floor, the textbook server and the bare driver',
        ['floor: bare uWS + grouped inserts', 'textbook: Socket.IO on ws', 'bare driver, insertOne alone'],
        ['cpu', 'databaseCpu', 'delivered', 'p50', 'p99'],
      ],
      announce: [
        'sockets, bare publish and bare res.write',
        ['this service', 'bare uWebSockets.js', 'bare res.write'],
        ['cpu', 'delivered'],
      ],
      idle: [
        'memory of sockets and of streams',
        ['this service', 'bare Socket.IO on uWS'],
        ['memory', 'cpu', 'delivered'],
      ],
      http: [
        'reads of the service and of a bare route',
        ['this service', 'bare Koa route'],
        ['cpu', 'databaseCpu', 'perSecond', 'p99'],
      ],
      cluster: [
        'gateways over Redis, and one without members of the room',
        ['a bare uWebSockets.js process over Redis', 'classic'],
        ['cpu', 'delivered'],
      ],
      storm: ['everybody reconnects', ['bare Socket.IO on uWS'], ['cpu', 'duration']],
      jitter: [
        'clients that come and go',
        ['Socket.IO on ws, connection state recovery'],
        ['share', 'leastShare', 'p50'],
      ],
      deploy: [
        'a peer that is restarted',
        ['Socket.IO on ws, connection state recovery'],
        ['share', 'leastShare', 'delivered'],
      ],
      silence: [
        'rooms that are open while nothing happens',
        ['3 rooms, 2 processes, without a signing key'],
        ['reads', 'cores', 'databaseCores', 'delivered'],
      ],
      overload: [
        'messages at half and reads at twice the load',
        ['half of what it carries', 'twice as much'],
        ['served', 'delivered'],
      ],
      soak: ['connections that come and go', ['this service'], ['memoryTotal', 'handles', 'delivered']],
      database: [
        'lmdb, the database in memory and lmdb alone, and a restart',
        ['embedded database in memory', 'bare lmdb loop', 'embedded database on lmdb'],
        ['delivered'],
      ],
    };

    for (const [name, [title, names, wanted]] of Object.entries(scenarios)) {
      it(`${name}: ${title}`, async () => {
        const present = expectFigures(await reports, name, names, wanted);
        if (name === 'overload') expectLatencies(present);
        // Of 10 members and 4 streams, one announcement.
        const delivered = { fanout: [200], announce: [10, 4] }[name];
        for (const { figures } of delivered ? present : [])
          expect(figures.delivered?.median).to.be.oneOf(delivered as number[]);
      });
    }

    it('tests every scenario', () => {
      expect(Object.keys(scenarios)).to.deep.equal(scenarioNames);
    });
  });

  it('judges by existing contenders', () => {
    const options = optionSchema.parse({});
    for (const name of scenarioNames) {
      const [scenario] = findScenarios(name, false);
      if (scenario === undefined || typeof scenario === 'string') throw new Error(name);
      const results = resultsOf(scenario, options);
      expect(results.map(({ role }) => role)).to.include('ours');
      const { verdicts } = judge(scenario, { ...reportOf(results), options }, undefined);
      expect(verdicts, scenario.name).to.not.be.empty;
      for (const { goal, outcome } of verdicts)
        expect(outcome, `${scenario.name}: ${goal}`).to.be.oneOf(['holds', 'misses']);
    }
  });

  it('names an unknown scenario and invalid options', async () => {
    expect(findScenarios('nothing', false)).to.equal('there is no scenario nothing');
    const { status, stdout, stderr } = await runScript('scripts/load.js', ['nothing', '--runs', 'many'], {});
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.equal('--runs: must be a whole number\n');
  });

  it('refuses options that change nothing, lines that do not exist, and files that cannot be written', async () => {
    for (const [args, fault] of [
      [
        ['chat', '--members', '50', '--streams', '5'],
        '--members: changes nothing in chat\n--streams: changes nothing in chat\n',
      ],
      [['http', '--stages'], '--stages: changes nothing in http\n'],
      [['chat', '--only', 'this servise'], '--only: no line of chat has this servise in its name\n'],
      [['chat', '--json', 'no/such/file.json'], /^--json: ENOENT/],
    ] as const) {
      const { status, stdout, stderr } = await runScript('scripts/load.js', [...args], {});
      expect({ status, stdout }, args.join(' ')).to.deep.equal({ status: 2, stdout: '' });
      if (typeof fault === 'string') expect(stderr).to.equal(fault);
      else expect(stderr).to.match(fault);
    }
  });

  it('leaves nothing behind when interrupted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-load-'));
    const settings = { DATA_DIR: folder, TMPDIR: folder };
    const child = spawnScript('scripts/load.js', ['all', ...TINY], settings);
    const running = () => readdirSync(folder).some((name) => name.startsWith('adoption-load-'));
    while (!running()) await new Promise((resolve) => setTimeout(resolve, 20));
    let stderr = '';
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    child.kill('SIGINT');
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect(status).to.equal(130);
    expect(withoutProgress(stderr)).to.match(
      /^interrupted: \d+ processes stopped, 1 temporary folders removed; finished: no scenario\n$/,
    );
    expect(running()).to.equal(false);
    rmSync(folder, { recursive: true, force: true });
  });
});
