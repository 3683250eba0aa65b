import type { ChangeKey } from './mutant.js';

/**
 * What runs of prove showed of a change. `found`: promises were broken. `not done`: the run came to no verdict, as when a
 * process does not start. `unreached`: twice something was not reached that runs of the unchanged build reach. `missed`:
 * none of these. `not run`: no process of such a run comes to its place, so nothing was tried.
 */
export type ProveVerdict = 'found' | 'not done' | 'unreached' | 'missed' | 'not run';

export interface ProveResult extends Required<ChangeKey> {
  line: number;
  verdict: ProveVerdict;
  /** The rules that were broken, why there was no verdict, or what was not reached. */
  says: string[];
  /** Time of its runs, s. */
  seconds: number;
}

/** A result as a line of the run, with the change below it. */
export function lineOf({ file, line, code, kind, nth, verdict, says, seconds }: ProveResult): string {
  const which = nth > 1 ? ` (number ${nth})` : '';
  const what = says.length > 0 ? `: ${says.join('; ')}` : '';
  return `${verdict}${what} (${seconds} s)\n    ${file}:${line}  ${kind}${which}\n    ${code}`;
}

/** The report: what was missed, and how many changes were found as what. */
export function reportProve(results: ProveResult[], seed: number): string {
  const of = (verdict: ProveVerdict) => results.filter((one) => one.verdict === verdict);
  const rules = of('found').flatMap(({ says }) => says);
  const byRule = [...new Set(rules)].map(
    (rule) => [rule, rules.filter((one) => one === rule).length] as const,
  );
  byRule.sort(([, a], [, b]) => b - a);
  const run = results.length - of('not run').length;
  const found = run - of('missed').length;
  const share = run === 0 ? '-' : `${((100 * found) / run).toFixed(1)} %`;
  return [
    ...of('missed').map(lineOf),
    '',
    ...byRule.map(([rule, count]) => `${String(count).padStart(5)}  ${rule}`),
    `${String(of('not done').length).padStart(5)}  the run came to no verdict`,
    `${String(of('unreached').length).padStart(5)}  not reached what the unchanged build reaches`,
    '',
    `seed ${seed}: ${found} of ${run} found (${share}); ${of('not run').length} others in code that no run reaches`,
  ].join('\n');
}
