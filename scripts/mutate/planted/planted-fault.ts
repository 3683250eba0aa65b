import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A careless mistake, as one edit of the compiled service, that `npm run prove` is to find. */
export interface PlantedFault {
  /** What the process does wrong. */
  does: string;
  /** The compiled file, below the build's folder. */
  file: string;
  /** Text that occurs in it exactly once. */
  find: string;
  replace: string;
  /** The rule of the checker that finds it. */
  rule: string;
  /** Another one that may find it first. */
  or?: string;
  /** Options of a run that finds it, other than the default ones. */
  options?: string[];
}

/** The rules that find a fault: one of them is enough. */
export const rulesOf = ({ rule, or }: PlantedFault): string[] => (or === undefined ? [rule] : [rule, or]);

/**
 * @param build folder of the compiled service
 * @returns the text of the file with the fault in it
 * @throws Error if the text to replace does not occur exactly once
 */
export function textWith({ file, find, replace }: PlantedFault, build: string): string {
  const [before = '', after, ...more] = readFileSync(join(build, file), 'utf8').split(find);
  if (after === undefined || more.length > 0)
    throw new Error(
      `${file}: ${after === undefined ? 'does not contain' : 'contains more than once'} ${find}`,
    );
  return `${before}${replace}${after}`;
}
