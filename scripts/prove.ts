import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgress } from './command/progress.js';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { runCommand } from './command/run-command.js';
import { faultKinds } from './prove/faults/kinds.js';
import { useTarget } from './prove/foreign-target.js';
import { writeHeader } from './prove/header.js';
import { HistoryFile } from './prove/history-file.js';
import { optionSchema, type ProveOptions } from './prove/options.js';
import { durationOf, runProof } from './prove/run.js';
import { startTarget, type Target } from './prove/target.js';

const usage = `Usage: npm run prove -- [options]

Proves that sockets, REST and event streams tell the same story, whatever happens to the processes behind
them: members chat, comment and read through all doors of an installation that the command starts, while
faults strike it. It writes a history of everything that was asked, answered and delivered.
Method and what it shows: docs/consistency.md.

  --members N      members (default 40)
  --seconds N      time of traffic (default 60); it lasts until each fault has struck once
  --faults LIST    none, all (default), or some of kill,stop,freeze,clock,reload,database-stop,
                   database-kill,disk-full,redis-cut,redis-stop,half-open,slow-reader
  --seed N         decides what members do and when faults strike (default: random, printed)
  --gateways N     gateway processes (default 3)
  --http N         http processes (default 2)
  --engine NAME    uws or ws (default: uws where it has a binary)
  --adapter NAME   classic (default) or sharded
  --log FILE       keeps the history, as NDJSON

For an installation that runs already, without faults and with members, rooms and articles of the
command's own, which it names beforehand and removes afterwards:
  --http URL --gateway URL
  --tokens FILE    access tokens, one a line, at least one of an author of adoption posts (default: members
                   are created in the database of the settings, and the settings' key signs their tokens)

Exit status: 0 the run is complete; 1 it is not.`;

/** @throws InvalidArguments */
function readOptions(args: string[]): ProveOptions {
  const { values } = readArguments({
    args,
    options: Object.fromEntries(
      Object.keys(optionSchema.shape).map((name) => [name, { type: 'string' as const }]),
    ),
  });
  return checkArguments(optionSchema, values);
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Ends what was started, once, also when the command is interrupted. */
function createCleanUp() {
  let end: () => Promise<string[]> = async () => [];
  let ended: Promise<string[]> | undefined;
  return {
    set(next: () => Promise<string[]>): void {
      end = next;
    },
    run(): Promise<string[]> {
      ended ??= end();
      return ended;
    },
  };
}

async function prove(
  options: ProveOptions,
  target: Target,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const { seed = Math.floor(Math.random() * 1e9), seconds } = options;
  const faults = target.own ? (options.faults ?? faultKinds) : [];
  const { members, rooms, articles } = target.community;
  const { log: _, ...chosen } = options;
  process.stdout.write(
    `seed ${seed}: ${members.length} members, ${rooms.length} rooms, ${articles.length} articles, ${seconds} s, faults ${faults.join(',') || 'none'}\n`,
  );
  const history = new HistoryFile(file);
  const progress = createProgress(durationOf({ seconds, faults }), 'prove');
  try {
    await writeHeader(history, target.servers, target.community, seed, {
      ...{ ...chosen, seed, members: members.length, faults: faults.join(',') || 'none' },
      foreign: !target.own,
    });
    await runProof({ history, ...target, own: target.own, seed, seconds, faults, progress, signal });
  } finally {
    progress.stop();
    await history.close();
  }
  const { operations, deliveries } = history.counts;
  process.stdout.write(`${operations} operations, ${deliveries} deliveries\n`);
}

await runCommand(usage, async (args) => {
  const options = readOptions(args);
  const cleanUp = createCleanUp();
  const interrupt = new AbortController();
  let isRunning = false;
  const stop = () => {
    process.stderr.write('interrupted: ending what was started\n');
    interrupt.abort();
    // A run ends in order first.
    if (!isRunning) void cleanUp.run();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const folder = options.log ? undefined : mkdtempSync(join(tmpdir(), 'adoption-history-'));
  const file = options.log ?? join(folder as string, 'history.ndjson');
  try {
    const target = options.gateway ? await useTarget(options, say) : await startTarget(options, cleanUp.set);
    cleanUp.set(target.close);
    isRunning = true;
    if (!interrupt.signal.aborted) await prove(options, target, file, interrupt.signal);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
  } finally {
    for (const line of await cleanUp.run()) say(line);
    if (folder) rmSync(folder, { recursive: true });
  }
  // Clients may still be trying to reach what has ended.
  if (interrupt.signal.aborted) process.exit(130);
  return 0;
});
