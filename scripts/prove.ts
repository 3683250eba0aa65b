import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgress } from './command/progress.js';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { InvalidArguments, runCommand } from './command/run-command.js';
import { reportEdits } from './prove/edits/report-edits.js';
import { faultKinds } from './prove/faults/kinds.js';
import { useTarget } from './prove/foreign-target.js';
import { writeHeader } from './prove/header.js';
import { HistoryFile } from './prove/history-file.js';
import { LiveJudge } from './prove/live-judge.js';
import { optionSchema, ownDefaults, type ProveOptions, verdictOptions } from './prove/options.js';
import { judgeKept, report, requireWritable } from './prove/report.js';
import { durationOf, runProof } from './prove/run.js';
import { startTarget, type Target } from './prove/target.js';

const usage = `Usage: npm run prove -- [options]

Proves that sockets, REST and event streams agree while processes and stores fail: starts an installation, whose members
chat, comment and read while faults strike, records everything as a history, and judges it.
Method, rules and limits: docs/consistency.md.

  --members N      members, 4 at least (default 40)
  --seconds N      time of traffic (default 60); it goes on until each fault has struck, and then, for twice that time
                   or a minute at most, until clients have reached everything that a verdict needs
  --faults LIST    none, all (default), or some of kill,stop,freeze,clock,reload,database-stop,
                   database-kill,disk-full,redis-cut,redis-stop,flush,evict,
                   half-open,slow-reader
  --seed N         decides what members do and which faults strike when (default: random, printed)
  --gateways N     gateway processes (default 3)
  --http N         http processes (default 2)
  --engine NAME    uws or ws (default: uws where it has a binary)
  --adapter NAME   classic (default) or sharded
  --build DIR      runs the http and gateway processes of another compiled build, such as another release's dist or a
                   changed copy of this one; members, stores and checker stay those of this one
  --log FILE       keeps the history, as NDJSON (default: only if a promise was broken or the run failed)
  --html FILE      draws what happened, as a page
  --fail-fast      ends the run with the first broken promise, without its remaining time and its last reads
  --json           prints the verdict as a JSON object
  --check FILE     judges a kept history instead of a run; also with --html, --json
  --edits N        with --check: also judges N copies of the history, each with one random change as a faulty service
                   would have caused it, and prints the changes that no rule finds; --seed N repeats them

For an installation that runs already, without faults:
  --http URL --gateway URL
                   creates members, rooms and articles, which it names beforehand and removes afterwards
  --tokens FILE    uses the members of these access tokens, one a line: an author of an adoption post among them, no
                   administrator, four at least or the verdict is unknown (default: creates members in the database
                   of the settings, and signs their tokens with the settings' key)

Exit status: 0 every promise was kept ("holds"); 1 one was broken, the run failed, or a change of --edits was not
found; 2 nothing was broken, but not everything was tried ("unknown"), or wrong usage; 130 interrupted.`;

/** Exit status of a run that the user ends. */
const INTERRUPTED = 130;

/** Why a run ends before its time. */
interface EarlyEnd {
  reason: string;
  /** The exit status; undefined: that of the verdict on what there is. */
  status?: number;
}

/** @throws InvalidArguments */
function readOptions(args: string[]): ProveOptions {
  const typeOf = (name: string) => (['json', 'fail-fast'].includes(name) ? 'boolean' : 'string');
  const names = Object.keys(optionSchema.shape);
  const { values } = readArguments({
    args,
    options: Object.fromEntries(names.map((name) => [name, { type: typeOf(name) } as const])),
  });
  const ofVerdict = values.edits === undefined ? verdictOptions : [...verdictOptions, 'seed'];
  const ofRun = Object.keys(values).filter((name) => !ofVerdict.includes(name));
  if (values.check !== undefined && ofRun.length > 0)
    throw new InvalidArguments(
      ofRun.map((name) => `--${name}: not with --check, which judges a history without a run`),
    );
  return checkArguments(optionSchema, values);
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Ends what was started, once, also when the command is interrupted. */
function createCleanUp() {
  let end: (() => Promise<string[]>) | undefined;
  let ended: Promise<string[]> | undefined;
  return {
    set(next: () => Promise<string[]>): void {
      end = next;
    },
    async run(): Promise<string[]> {
      ended ??= end?.();
      return ended ?? [];
    },
  };
}

/** @param onStart as of startTarget */
const targetOf = (options: ProveOptions, onStart: (end: () => Promise<string[]>) => void): Promise<Target> =>
  options.gateway ? useTarget(options, say) : startTarget(options, onStart);

/** @param endEarly ends the run, which `signal` tells */
async function prove(
  options: ProveOptions,
  target: Target,
  file: string,
  judge: LiveJudge,
  endEarly: (end: EarlyEnd) => void,
  signal: AbortSignal,
): Promise<void> {
  const { seed = Math.floor(Math.random() * 1e9), seconds } = options;
  const faults = target.own ? (options.faults ?? faultKinds) : [];
  const { members, rooms, articles } = target.community;
  const {
    log: _,
    check: _check,
    edits: _edits,
    html: _html,
    json,
    'fail-fast': _failFast,
    ...chosen
  } = options;
  const stream = json ? process.stderr : process.stdout;
  stream.write(
    `seed ${seed}: ${members.length} members, ${rooms.length} rooms, ${articles.length} articles, ${seconds} s, faults ${faults.join(',') || 'none'}\n`,
  );
  const history = new HistoryFile(
    file,
    ({ message }) => endEarly({ status: 1, reason: message }),
    (line) => judge.read(line),
  );
  const progress = createProgress(durationOf({ seconds, faults }), 'prove');
  try {
    await writeHeader(history, target.servers, target.community, seed, {
      ...(target.own ? ownDefaults : {}),
      ...{ ...chosen, seed, members: members.length, faults: faults.join(',') || 'none' },
      foreign: !target.own,
    });
    await runProof({ history, judge, ...target, own: target.own, seed, seconds, faults, progress, signal });
  } finally {
    progress.stop();
    await history.close();
  }
}

/** Of a run that has begun and did not end in order: its clients and faults may still be trying to reach what has ended. */
let isUnderWay = false;

/** Runs a proof, ends what it started, and judges its history. @returns the exit status */
async function runAndJudge(options: ProveOptions): Promise<number> {
  const cleanUp = createCleanUp();
  const early = new AbortController();
  let earlyStatus: number | undefined;
  // Until there is a verdict: what a run has written may show why it failed.
  let isKept = true;
  const endEarly = ({ status, reason }: EarlyEnd) => {
    // npm passes Ctrl-C on to a command that the terminal has told already.
    if (early.signal.aborted) return;
    say(`${reason}: ending what was started`);
    earlyStatus = status;
    isKept = status !== INTERRUPTED;
    early.abort();
    // A run ends in order first.
    if (!isUnderWay) void cleanUp.run();
    isUnderWay = true;
  };
  const judge = new LiveJudge({
    // Not at once: what ends the run would close the client that is writing.
    broken: ({ rule }) =>
      options['fail-fast'] && setImmediate(() => endEarly({ reason: `${rule} is broken` })),
    failed: ({ message }) => setImmediate(() => endEarly({ reason: message, status: 1 })),
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => endEarly({ status: INTERRUPTED, reason: 'interrupted' }));
  const folder = options.log ? undefined : mkdtempSync(join(tmpdir(), 'adoption-history-'));
  const file = options.log ?? join(folder as string, 'history.ndjson');
  try {
    try {
      const target = await targetOf(options, cleanUp.set);
      cleanUp.set(target.close);
      isUnderWay = true;
      if (!early.signal.aborted) await prove(options, target, file, judge, endEarly, early.signal);
    } catch (error) {
      if (!early.signal.aborted) throw error;
    } finally {
      for (const line of await cleanUp.run()) say(line);
    }
    if (earlyStatus !== undefined) return earlyStatus;
    if (!early.signal.aborted) isUnderWay = false;
    const verdict = judge.end();
    isKept = verdict.outcome === 'broken';
    return await report(file, verdict, options);
  } finally {
    if (folder && isKept && statSync(file, { throwIfNoEntry: false })?.size)
      say(`the history is kept: ${file}`);
    else if (folder) rmSync(folder, { recursive: true });
  }
}

await runCommand(usage, async (args) => {
  const options = readOptions(args);
  requireWritable(options);
  const { check, edits, seed = Math.floor(Math.random() * 1e9) } = options;
  if (check === undefined) return runAndJudge(options);
  const verdict = await judgeKept(check);
  if (edits === undefined || verdict.outcome === 'broken') return report(check, verdict, options);
  return reportEdits(check, edits, seed);
});
if (isUnderWay) process.exit();
