import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLatencies, encode, record } from '../../../scripts/load/latency.js';
import { mergeTurns } from '../../../scripts/load/merge.js';
import { optionSchema, shareOf } from '../../../scripts/load/options.js';
import type { Report } from '../../../scripts/load/report/page.js';
import { resultOf } from '../../../scripts/load/run-scenario.js';
import type { Measured } from '../../../scripts/load/scenario.js';
import { runHere } from '../script-runs.js';

const LOAD = 'scripts/load.js';
const WHERE = { http: 'http://127.0.0.1:1', gateway: 'http://127.0.0.1:2' };
const PART = '2,000 messages/s';

/** Latencies of a turn, an encoded histogram. */
function latenciesOf(...ms: number[]): string {
  const latencies = createLatencies();
  for (const one of ms) record(latencies, one * 1_000);
  return encode(latencies);
}

const turn = (ms: number, others: Measured = {}): Measured => ({
  ...{ delivered: 100, lost: 0, afterEnd: 1, perSecond: 50, clients: 20, during: [0, 1_000] },
  ...{ p99: ms, latencies: latenciesOf(ms, ms) },
  timeline: [{ offered: 10, served: 10, refused: 0, p99: ms }],
  ...others,
});

/** What `--json` writes of a shard. @param turns its measurements */
function shardOf(shard: string, turns: Measured[], options: object = {}): Report {
  const entry = { name: 'this service', role: 'ours', part: PART } as const;
  const results = [{ ...resultOf(entry, turns, undefined), measured: turns }];
  const machine = { cpu: 'test', cores: 2, memoryGiB: 1, kernel: '6', node: '20' };
  return {
    ...{ scenario: 'chat', at: '2026-01-01T00:00:00.000Z', machine, verdicts: [], results },
    options: optionSchema.parse({ ...WHERE, shard, ...options }),
    ...{ loadAverage: [0, 0], provenance: { versions: {} }, units: {} },
  };
}

const five = (ms: number, others?: Measured) => [0, 1, 2, 3, 4].map((i) => turn(ms + i / 10, others));

describe('npm run load -- merge', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-test-load-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const merge = (...args: string[]) => runHere(LOAD, ['merge', ...args], { DATA_DIR: folder });

  function write(name: string, report: Report): string {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(report));
    return file;
  }

  it('adds up what machines counted, and judges the whole, with the exit status', async () => {
    const [fast, slow] = [
      ['a.json', 'b.json'].map((name, i) => write(name, shardOf(`${i + 1}/2`, five(5)))),
      ['c.json', 'd.json'].map((name, i) => write(name, shardOf(`${2 - i}/2`, five(i === 0 ? 5 : 50)))),
    ] as [string[], string[]];
    const [before, saved, html] = ['before.json', 'saved.json', 'page.html'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    const good = await merge(...fast, '--json', before, '--save-baseline', saved);
    expect(good, good.stderr).to.include({ status: 0, stderr: '' });
    expect(good.stdout).to.match(/holds\s+most deliveries, answers or connections that a turn lost: 0\.00/);
    const { results, options, clientMachines } = JSON.parse(readFileSync(before, 'utf8')) as Report;
    expect(results[0]?.figures.delivered?.runs).to.deep.equal([200, 200, 200, 200, 200]);
    expect(results[0]?.figures.perSecond?.median).to.equal(100);
    expect(options.shard).to.equal(undefined);
    expect(clientMachines).to.have.length(2);
    expect(readdirSync(folder)).to.include('before.chat.2-000-messages-s.this-service.hgrm');

    const worse = await merge(...slow, '--baseline', saved, '--html', html);
    expect(worse.status, worse.stdout).to.equal(99);
    expect(worse.stdout).to.match(
      /regressed\s+chat, 2,000 messages\/s, this service: p99 ms: 5\.\d+ .* before, 50\./,
    );
    expect(readFileSync(html, 'utf8'))
      .to.match(/<b>regressed<\/b> chat, 2,000 messages\/s, this service: p99 ms/)
      .and.include('2 client machines, the first: test');
  });

  it('misses the bound if one machine lost something', async () => {
    const files = [five(5), five(5, { lost: 3 })].map((turns, i) =>
      write(`${i}.json`, shardOf(`${i + 1}/2`, turns)),
    );
    const { status, stdout } = await merge(...files);
    expect(status).to.equal(99);
    expect(stdout).to.match(/misses\s+most deliveries, answers or connections that a turn lost: 3\.00/);
  });

  it('refuses files that are not the parts of one run', async () => {
    const part = (shard: string, options?: object) =>
      write(`${shard.replace('/', '-')}.json`, shardOf(shard, [turn(5)], options));
    const whole = { ...shardOf('1/1', [turn(5)]), options: optionSchema.parse({}) };
    const cases: [files: string[], told: RegExp][] = [
      [[part('1/2')], /: is one of 2 parts, not of 1$/m],
      [[part('1/2'), part('1/2')], /: are parts 1, 1, each is needed once$/m],
      [[part('1/2'), part('2/2', { rooms: '7' })], /2-2\.json, chat: was measured with another --rooms$/m],
      [[write('whole.json', whole)], /: was not measured with --shard$/m],
      [[join(folder, 'none')], /none: ENOENT/],
    ];
    for (const [files, told] of cases) {
      const { status, stderr } = await merge(...files);
      expect(status, stderr).to.equal(2);
      expect(stderr).to.match(told);
    }
    const other = await merge(part('1/1'), '--members', '5');
    expect(other).to.include({ status: 2, stderr: '--members: not with merge\n' });
  });

  it('takes the highest load of all machines, and the latencies of all', () => {
    const merged = mergeTurns([turn(1, { clients: 80 }), turn(9)]);
    expect(merged).to.include({ clients: 80, delivered: 200, afterEnd: 2 });
    expect(merged.p50).to.be.closeTo(1, 0.1);
    expect(merged.p99).to.be.closeTo(9, 0.1);
    expect(merged.timeline).to.deep.equal([{ offered: 20, served: 20, refused: 0, p99: 9 }]);
    expect(merged.void).to.equal(undefined);
  });

  it('does not count a turn that is void on one machine, or that they did not measure together', () => {
    expect(mergeTurns([turn(1), turn(1, { clients: 99 })]).void).to.match(
      /^machine 2: clients were the bottleneck/,
    );
    expect(mergeTurns([turn(1), turn(1, { during: [600, 1_600] })]).void).to.equal(
      'the machines measured at the same time for only 40 % of the turn',
    );
    expect(mergeTurns([turn(1), turn(1, { during: [100, 1_100] })]).void).to.equal(undefined);
  });

  it('is of shares that add up to the whole', () => {
    const shares = ['1/3', '2/3', '3/3'].map((shard) =>
      shareOf(optionSchema.parse({ ...WHERE, shard }), 1_000),
    );
    expect(shares).to.deep.equal([333, 333, 334]);
    expect(shareOf(optionSchema.parse(WHERE), 7)).to.equal(7);
  });
});
