import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { faultKinds } from '../../../scripts/prove/faults/kinds.js';
import type { Ok, SeenMessage } from '../../../scripts/prove/history.js';
import { hasRedisServer } from '../../support/redis.js';
import { runHere, runScript, type ScriptRun, spawnScript } from '../script-runs.js';
import { expectComplete, linesOf, readHistory } from './complete-history.js';
import { interrupt, untilPrinted } from './interrupt.js';

const PROVE = 'scripts/prove.js';

/** Another seed for each commit. PROVE_SEED=N repeats one. */
function seedOfCommit(): number {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: projectRoot(), encoding: 'utf8' });
    return Number.parseInt(commit.slice(0, 7), 16);
  } catch {
    // A copy without its repository.
    return Math.floor(Math.random() * 1e9);
  }
}

/** Ids of the processes that work in a folder. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

describe('npm run prove with an installation of its own', () => {
  describe('and all faults', () => {
    let folder: string;
    let log: string;
    let run: ScriptRun;
    const seed = Number(process.env.PROVE_SEED ?? seedOfCommit());
    before(async function () {
      if (!hasRedisServer) this.skip();
      folder = mkdtempSync(join(tmpdir(), 'adoption-test-prove-'));
      log = join(folder, 'history.ndjson');
      // Every fault strikes once, with starts on a busy machine; then it is quiet for 36 s.
      this.timeout(300_000);
      process.stdout.write(`      PROVE_SEED=${seed}\n`);
      const size = ['--members', '12', '--seconds', '20', '--http', '2', '--gateways', '3'];
      run = await runScript(PROVE, [...size, '--seed', String(seed), '--log', log], { TMPDIR: folder });
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    // "unknown" fails, too: a run with all faults is to reach every rare path.
    it('lets members use every door while all faults strike, finds that all promises hold, and removes it', () => {
      expect(run, `${run.stdout}${run.stderr}`).to.include({ status: 0 });
      expect(run.stdout).to.match(
        /^seed \d+: 12 members, 15 rooms, 3 articles, 20 s, faults kill,.*\nholds: \d+ operations, \d+ of them unanswered; \d+ messages, /,
      );
      expect(readdirSync(folder)).to.deep.equal(['history.ndjson']);

      const history = readHistory(log);
      expectComplete(history);
      expect(history[0]).to.deep.include({ seed });
      const ended = linesOf(history, 'fault').filter(({ phase }) => phase === 'end');
      expect([...new Set(ended.map(({ fault }) => fault))]).to.have.members(faultKinds);
      for (const kind of faultKinds)
        expect(run.stdout).to.match(new RegExp(`^strikes: (?:.*, )?${kind} \\d`, 'm'));
      const doors = new Set(linesOf(history, 'invoke').map(({ door }) => door));
      expect([...doors]).to.have.members(['socket', 'rest', 'push', 'stream']);
      expect(new Set(linesOf(history, 'delivery').map(({ door }) => door))).to.deep.equal(
        new Set(['socket', 'stream']),
      );
      expect(linesOf(history, 'counts').map(({ process }) => process)).to.include.members([
        ...['http-0', 'http-1', 'gateway-0', 'gateway-1', 'gateway-2'],
      ]);
    });

    it('judges its history again, with a page', async () => {
      const page = join(folder, 'page.html');
      const again = await runHere(PROVE, ['--check', log, '--json', '--html', page], {});
      expect(again, again.stderr).to.include({ status: 0, stderr: '' });
      const verdict = JSON.parse(again.stdout);
      expect(verdict).to.include({ outcome: 'holds', seed });
      const drawn = readFileSync(page, 'utf8');
      expect(drawn).to.match(/^<!doctype html>[\s\S]*<svg/);
      // The page counts as the verdict does.
      for (const count of [verdict.counts.acknowledged, verdict.counts.unanswered])
        expect(drawn).to.include(`<b>${count.toLocaleString('en')}</b>`);
    });

    it('finds a promise broken in a history with one changed line', async () => {
      const history = readHistory(log);
      const join1 = history.findLast(
        (line) => line.e === 'ok' && line.f === 'join' && line.messages.length > 0,
      );
      Object.assign((join1 as Ok & { f: 'join' }).messages[0] as SeenMessage, {
        content: 'nobody sent this',
      });
      const changed = join(folder, 'changed.ndjson');
      writeFileSync(changed, history.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const { status, stdout, stderr } = await runHere(PROVE, ['--check', changed], {});
      expect(status).to.equal(1);
      expect(stdout).to.match(/^broken: [\s\S]*^broken: nobody-sent-it \(/m);
      expect(stderr).to.equal(`to see what happened: npm run prove -- --check ${changed} --html PAGE\n`);
    });
  });

  it('ends all processes when it is interrupted, and removes its folder', async function () {
    if (!hasRedisServer) this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-prove-'));
    const size = ['--members', '4', '--seconds', '60', '--http', '1', '--gateways', '1'];
    const log = join(folder, 'log');
    const stores = ['--faults', 'database-stop,redis-stop', '--log', log];
    const child = spawnScript(PROVE, [...size, ...stores], { TMPDIR: folder });
    const ended = once(child, 'close');
    // Once while it starts, as by a terminal that is closed, and once while a fault holds a store.
    while (!readdirSync(folder).some((name) => name.startsWith('adoption-prove-'))) await sleep(20);
    const early = spawnScript(PROVE, size, { TMPDIR: folder });
    const earlyEnded = once(early, 'close');
    while (readdirSync(folder).filter((name) => name.startsWith('adoption-prove-')).length < 2)
      await sleep(20);
    early.kill('SIGHUP');
    await untilPrinted(child.stdout, /^seed /);
    while (!(existsSync(log) && readFileSync(log, 'utf8').includes('"e":"fault"'))) await sleep(20);
    const interruptedAt = performance.now();
    interrupt(child);
    expect([await ended, await earlyEnded].map(([status]) => status)).to.deep.equal([130, 130]);
    expect(performance.now() - interruptedAt, 'ms until its end').to.be.below(5_000);
    expect(readdirSync(folder)).to.deep.equal(['log']);
    expect(processesIn(folder)).to.deep.equal([]);
    rmSync(folder, { recursive: true });
  });

  it('runs the processes of another build', async function () {
    if (!hasRedisServer) this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-prove-'));
    try {
      for (const door of ['http', 'gateway']) {
        mkdirSync(join(folder, door));
        const main = join(projectRoot(), 'dist', door, 'main.js');
        const started = JSON.stringify(join(folder, `${door} started`));
        writeFileSync(
          join(folder, door, 'main.js'),
          `require('node:fs').writeFileSync(${started}, ''); import(${JSON.stringify(main)});`,
        );
      }
      const size = ['--members', '4', '--seconds', '1', '--http', '1', '--gateways', '1', '--faults', 'none'];
      const run = await runScript(PROVE, [...size, '--build', folder], {});
      expect(run.status, `${run.stdout}${run.stderr}`).to.be.oneOf([0, 2]);
      expect(readdirSync(folder)).to.include.members(['http started', 'gateway started']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('names what is wrong with its options', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-prove-'));
    const [empty, readme] = [join(folder, 'empty'), join(folder, 'readme')];
    writeFileSync(empty, '');
    writeFileSync(readme, 'This is no JSON.\n');
    const wrong: [string[], RegExp][] = [
      [['--faults', 'kill,fire'], /^--faults: no fault fire: must be none, all, or some of kill,/],
      [
        ['--http', 'http://127.0.0.1:1'],
        /^--gateway: an installation that runs already needs --http URL and --gateway URL$/m,
      ],
      [['--tokens', 'x'], /^--tokens: only for an installation that runs already/],
      ...['gateways=2', 'engine=ws', 'adapter=classic', `build=${projectRoot()}/dist`].map(
        (option): [string[], RegExp] => [
          [`--${option}`, '--http', 'http://127.0.0.1:1', '--gateway', 'http://127.0.0.1:1'],
          new RegExp(`^--${option.split('=')[0]}: only for an installation that the run starts itself$`, 'm'),
        ],
      ),
      [
        [
          '--members',
          '4',
          '--tokens',
          'x',
          '--http',
          'http://127.0.0.1:1',
          '--gateway',
          'http://127.0.0.1:1',
        ],
        /^--members: not with --tokens, which says who the members are$/m,
      ],
      [['--members', '3'], /^--members: must be from 4 to 500$/m],
      [['--check', empty], /^--check: .* is no history of a run: the history is empty$/m],
      [['--check', readme], /^--check: .* is no history of a run: line 1: Unexpected token/m],
      [['--check', 'missing'], /^--check: missing is no history of a run: ENOENT/m],
      [
        ['--check', empty, '--seed', '1'],
        /^--seed: not with --check, which judges a history without a run$/m,
      ],
      [
        ['--check', empty, '--edits', '1', '--json'],
        /^--edits: gives no verdict: not with --html or --json$/m,
      ],
      [['--build', folder], /^--build: .* has no http\/main\.js, no gateway\/main\.js$/m],
      [['--html', 'missing/page.html'], /^--html: ENOENT/m],
      [['--log', folder], /^--log: is a directory$/m],
      [['--check', empty, '--html', empty], /^--html: is the file of --check$/m],
      [['--log', 'run', '--html', './run'], /^--html: is the file of --log$/m],
    ];
    for (const [args, told] of wrong) {
      const { status, stderr, stdout } = await runHere(PROVE, args, { TMPDIR: folder });
      expect({ status, stdout }, stderr).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.match(told);
    }
    expect(readdirSync(folder)).to.deep.equal(['empty', 'readme']);
    rmSync(folder, { recursive: true });
  });
});
