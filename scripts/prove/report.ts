import { accessSync, constants, createReadStream, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import { InvalidArguments } from '../command/run-command.js';
import { describeVerdict, judge, type Verdict } from './check/judge.js';
import type { ProveOptions } from './options.js';
import { drawPicture } from './picture/draw.js';

/** Exit status of each outcome. */
const STATUS: Record<Verdict['outcome'], number> = { holds: 0, broken: 1, unknown: 2 };

const COLOURS = { holds: 'green', broken: 'red', unknown: 'yellow' } as const;

/** Reads a history from its beginning. */
const linesOf = (file: string): AsyncIterable<string> => createInterface({ input: createReadStream(file) });

/** @throws InvalidArguments naming a file that could not be written after the run, or would replace another of its files */
export function requireWritable(options: Pick<ProveOptions, 'check' | 'log' | 'html'>): void {
  const names = ['check', 'log', 'html'] as const;
  const faults = names.slice(1).flatMap((name) => {
    const file = options[name];
    if (file === undefined) return [];
    const same = names.slice(0, names.indexOf(name)).find((other) => {
      const before = options[other];
      return before !== undefined && resolve(before) === resolve(file);
    });
    try {
      if (same) throw new Error(`is the file of --${same}`);
      const known = statSync(file, { throwIfNoEntry: false });
      if (known?.isDirectory()) throw new Error('is a directory');
      accessSync(known ? file : dirname(file), constants.W_OK);
      return [];
    } catch (error) {
      return [`--${name}: ${(error as Error).message}`];
    }
  });
  if (faults.length > 0) throw new InvalidArguments(faults);
}

/** Judges a kept history. @throws InvalidArguments if the file is none */
export async function judgeKept(file: string): Promise<Verdict> {
  try {
    return await judge(linesOf(file));
  } catch (error) {
    throw new InvalidArguments([`--check: ${file} is no history of a run: ${(error as Error).message}`]);
  }
}

/** Writes a file that an option asks for. @throws Error naming the option and the file */
async function writeFor(option: string, file: string, write: () => unknown): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw new Error(`--${option}: ${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Prints the verdict on a history, and writes what else the options ask for.
 * @returns the exit status
 * @throws Error naming a file that cannot be written
 */
export async function report(
  file: string,
  verdict: Verdict,
  { json, html }: Pick<ProveOptions, 'json' | 'html'>,
): Promise<number> {
  if (json) process.stdout.write(`${JSON.stringify(verdict)}\n`);
  else {
    const isColoured = Boolean(process.stdout.isTTY) && !process.env.NO_COLOR;
    const text = describeVerdict(verdict);
    const word = /^(?:holds|broken|unknown)(?=:)/gm;
    const paint = (found: string) => styleText(COLOURS[found as keyof typeof COLOURS], found);
    process.stdout.write(`${isColoured ? text.replace(word, paint) : text}\n`);
  }
  if (html) {
    const page = await drawPicture(linesOf(file), verdict);
    await writeFor('html', html, () => writeFileSync(html, page));
  } else if (verdict.outcome === 'broken') {
    process.stderr.write(`to see what happened: npm run prove -- --check ${file} --html PAGE\n`);
  }
  return STATUS[verdict.outcome];
}
