import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import type { TestProcess } from '../../support/child-process.js';
import { compiled } from '../../support/child-process.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { scansOf } from '../../support/service.js';

/** An entrance of the service with the input that random tests send to it. */
export interface Door<T> {
  name: string;
  /** Inputs of one round. */
  cases: number;
  input: fc.Arbitrary<T>;
  open(): Promise<OpenDoor<T>>;
}

export interface OpenDoor<T> {
  /** The processes behind it: none may end or log an error. */
  processes: TestProcess[];
  /** Sends one input. Rejects unless it is answered as documented. */
  send(input: T): Promise<void>;
  /** Rejects unless others are served as before. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Settings of a process whose memory is measured: it collects garbage on SIGUSR2. */
export const MEASURED = { NODE_OPTIONS: `--import=${compiled('scripts/load/collect-on-signal.js').href}` };

/** What a process may hold more after a round, in which it also stores much: file descriptors, and MiB of memory. */
const MORE_HANDLES = 40;
const MORE_MIB = 150;

/** Shrinking a failure ends after this time, ms. */
const MOST_MS = 90_000;

/** CPU that an input may cost, ms, in the cheapest of TRIES: a collection of garbage falls into one of them, not into all. */
const MOST_CPU_MS = 200;
const TRIES = 3;

/** A tick of the kernel's CPU times, ms. */
const TICK_MS = 10;

/** CPU that processes have used, all threads, ms: unlike elapsed time the same on a busy machine. */
function cpuOf(processes: TestProcess[]): number {
  const ticks = processes.map(({ pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    // User and system; the first two fields are before the parenthesis.
    return Number(fields[11]) + Number(fields[12]);
  });
  return TICK_MS * ticks.reduce((sum, one) => sum + one, 0);
}

/** Sends an input, again while it costs too much. @returns its least cost, CPU in ms */
async function costOf(processes: TestProcess[], send: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && least > MOST_CPU_MS; i += 1) {
    const before = cpuOf(processes);
    await send();
    if (processes.every(({ running }) => running)) least = Math.min(least, cpuOf(processes) - before);
    else return 0;
  }
  return least;
}

const handlesOf = ({ pid }: TestProcess) => readdirSync(`/proc/${pid}/fd`).length;

function memoryOf(child: TestProcess): number {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}

interface Held {
  child: TestProcess;
  handles: number;
  memory: number;
}

const held = (child: TestProcess): Held => ({ child, handles: handlesOf(child), memory: memoryOf(child) });

/** Rejects unless a process holds about as much as before. */
async function expectFlat({ child, handles, memory }: Held): Promise<void> {
  child.signal('SIGUSR2');
  await eventually(() => {
    expect(handlesOf(child) - handles, `more file descriptors of ${child.name}`).to.be.below(MORE_HANDLES);
    expect(memoryOf(child) - memory, `MiB more of ${child.name}`).to.be.below(MORE_MIB);
  });
}

/** Rejects if a query of the service read a whole collection of this database, if it is the embedded one. */
export async function expectNoScans(mongoUri: string): Promise<void> {
  const client = await MongoClient.connect(mongoUri);
  try {
    const scans = await scansOf(client.db());
    if (scans.length > 0) throw new Error(`queries that no index serves: ${JSON.stringify(scans)}`);
  } finally {
    await client.close();
  }
}

const errorsOf = (processes: TestProcess[]) => processes.flatMap((one) => one.errors());

/**
 * One round: random inputs, each answered at little cost, and afterwards everything as before.
 * @returns the cost of the most expensive input, CPU in ms
 * @throws Error with the smallest input found that fails, and the command that repeats it
 */
export async function runRound<T>(door: Door<T>, seed: number, cases = door.cases): Promise<number> {
  let opened = await door.open();
  let most = 0;
  try {
    const before = opened.processes.map(held);
    const property = fc.asyncProperty(door.input, async (input) => {
      if (opened.processes.some(({ running }) => !running)) {
        await opened.close();
        opened = await door.open();
      }
      const { processes } = opened;
      const known = errorsOf(processes).length;
      try {
        const cost = await costOf(processes, () => opened.send(input));
        expect(cost, 'ms of CPU').to.be.at.most(MOST_CPU_MS);
        most = Math.max(most, cost);
      } catch (error) {
        // A connection breaks a little before the end of its process is known.
        const gone = Promise.race(processes.map((one) => one.gone));
        await Promise.race([gone, opened.check().catch(() => gone)]);
        throw error;
      }
      const ended = processes.filter(({ running }) => !running).map(({ log }) => log.slice(-2_000));
      expect(ended, 'ended').to.deep.equal([]);
      expect(errorsOf(processes).slice(known), 'logged').to.deep.equal([]);
    });
    await fc.assert(property, {
      ...{ seed, numRuns: cases, includeErrorInReport: true },
      ...{ timeout: WAIT_MS, interruptAfterTimeLimit: MOST_MS },
    });
    await opened.check();
    for (const one of before) await expectFlat(one);
    expect(errorsOf(opened.processes), 'logged').to.deep.equal([]);
    expect({}).not.to.have.property('polluted');
    return most;
  } catch (error) {
    const repeat = `npm run fuzz -- --only ${door.name} --seed ${seed}`;
    throw new Error(`${repeat}\n${(error as Error).message}`, { cause: error });
  } finally {
    await opened.close();
  }
}
