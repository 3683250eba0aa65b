import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Verdict } from '../../prove/check/judge.js';
import { createSandbox } from '../sandbox.js';
import { plantedFaults } from './index.js';
import { type PlantedFault, rulesOf, textWith } from './planted-fault.js';

/** What a run of `npm run prove` made of a fault. */
export interface PlantedOutcome {
  name: string;
  /** Undefined for the build as it is, in which nothing may be found. */
  fault: PlantedFault | undefined;
  isFound: boolean;
  /** In words. */
  text: string;
}

export interface PlantedOptions {
  /** The built project's folder. */
  root: string;
  /** Names of faults; `none` for the build as it is. */
  names: string[];
  /** Runs at the same time. */
  jobs: number;
  /** Called with each outcome. */
  done(outcome: PlantedOutcome): void;
}

/** @throws Error with what the run printed if it came to no verdict */
async function prove(root: string, args: string[]): Promise<Verdict> {
  const program = join(root, 'dist', 'scripts', 'prove.js');
  const child = spawn(process.execPath, [program, '--json', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  // Otherwise it would go on without its reader.
  const end = () => child.kill();
  process.on('exit', end);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  process.off('exit', end);
  if (stdout === '') throw new Error(`prove ${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as Verdict;
}

/** When the first violation was seen, in the order of rules, s. */
const told = ({ broken, violations }: Verdict): string =>
  Object.keys(broken)
    .map(
      (rule) =>
        `${rule} after ${Math.round((violations.find((one) => one.rule === rule)?.t ?? 0) / 1_000)} s`,
    )
    .join(', ');

async function tryFault(root: string, build: string, name: string): Promise<PlantedOutcome> {
  const fault = plantedFaults[name];
  const args = ['--build', build, ...(fault?.options ?? [])];
  if (!fault) {
    const verdict = await prove(root, args);
    const isHeld = verdict.outcome !== 'broken';
    return { name, fault, isFound: isHeld, text: isHeld ? verdict.outcome : `broken: ${told(verdict)}` };
  }
  const first = await prove(root, [...args, '--fail-fast']);
  // Another rule may have been broken first, or the run may have come to its end.
  const isNamed = ({ broken }: Verdict) => rulesOf(fault).some((rule) => rule in broken);
  const isEnd = isNamed(first) || first.outcome !== 'broken';
  const verdict = isEnd ? first : await prove(root, args);
  const isFound = isNamed(verdict);
  return { name, fault, isFound, text: verdict.outcome === 'broken' ? told(verdict) : verdict.outcome };
}

/** Plants one fault after the other in a copy of the build, and lets `npm run prove` look for it. */
export async function runPlanted({ root, names, jobs, done }: PlantedOptions): Promise<void> {
  const queue = [...names];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

  async function work(job: number): Promise<void> {
    const sandbox = createSandbox(root, `planted-${job}`);
    try {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
        const fault = plantedFaults[name];
        const restore = fault && sandbox.change(join('dist', fault.file), textWith(fault, sandbox.build));
        done(await tryFault(root, sandbox.build, name));
        restore?.();
      }
    } finally {
      sandbox.remove();
    }
  }

  await Promise.all(Array.from({ length: jobs }, (_, job) => work(job)));
}
