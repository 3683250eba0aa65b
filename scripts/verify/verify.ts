import type { Check, Checked, Finding } from '../../domain/kernel/verification.js';
import { createProgress, type Progress } from '../command/progress.js';

export interface VerifyOptions {
  /** Whether differences are repaired, and everything is checked again until nothing is left to repair. */
  repair: boolean;
  /** Whether each line of output is a JSON object (NDJSON). */
  json: boolean;
  /** The processes of the service that run. */
  livingProcesses(): Promise<string[]>;
}

/** A repair can reveal differences in dependent records; if more rounds are needed, repairing fails. */
const MAX_ROUNDS = 3;

/** Differences listed that are remembered, so that a further round does not list them again. */
const MAX_LISTED = 10_000;

async function runAll(
  checks: Check[],
  onFinding: (finding: Finding, progress: Progress) => Promise<void>,
): Promise<number> {
  const sizes = await Promise.all(checks.map((check) => check.size()));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const progress = createProgress(total, 'verify');
  let records = 0;
  const checked: Checked = (count, isAgain) => {
    if (isAgain) return;
    records += count;
    progress.advance(count);
  };
  try {
    for (const check of checks) {
      for await (const finding of check.run(checked)) await onFinding(finding, progress);
    }
  } finally {
    progress.stop();
  }
  return records;
}

/** What became of a finding. */
interface Outcome {
  repaired: boolean;
  /** Why it was not repaired, although it can be. */
  reason?: string;
}

function lineOf({ text, ...finding }: Finding, { repaired, reason }: Outcome, json: boolean): string {
  if (!json) return repaired ? `${text}: repaired` : reason ? `${text}: not repaired, ${reason}` : text;
  const { area, kind, record, found, expected = null } = finding;
  const line = { type: 'finding', area, kind, record, found, expected, text, repaired, reason };
  return JSON.stringify(line);
}

interface Totals {
  records: number;
  differences: number;
  repaired: number;
}

function summaryOf({ records, differences, repaired }: Totals, json: boolean): string {
  if (json)
    return JSON.stringify({ type: 'summary', agrees: differences === 0, records, differences, repaired });
  const result =
    differences === 0
      ? 'everything agrees'
      : differences === 1
        ? '1 difference'
        : `${differences} differences`;
  return `${result}${repaired > 0 ? `, ${repaired} repaired` : ''} (${records} records)`;
}

/** Repairs a finding, unless it is to be left: for a person, for lack of a stop, or because repairs do not help. */
async function repairOf(
  { repair, isStopNeeded }: Finding,
  { livingProcesses }: VerifyOptions,
): Promise<Outcome> {
  if (!repair) return { repaired: false };
  const [serving] = isStopNeeded ? await livingProcesses() : [];
  if (serving) {
    const reason = `stop the service first: ${serving.split(',')[0]} ran within the last 90 s`;
    return { repaired: false, reason };
  }
  await repair();
  return { repaired: true };
}

/**
 * Runs the checks and prints the differences, a line each, and a summary.
 * @returns the exit status: 0 if everything agrees in the end, else 1
 */
export async function verify(checks: Check[], options: VerifyOptions): Promise<number> {
  const { repair, json } = options;
  const listed = new Set<string>();
  let repaired = 0;
  for (let round = 1; ; round += 1) {
    const isRepairing = repair && round <= MAX_ROUNDS;
    let differences = 0;
    let repairedNow = 0;
    const records = await runAll(checks, async (finding, progress) => {
      const outcome = isRepairing ? await repairOf(finding, options) : { repaired: false };
      if (outcome.repaired) repairedNow += 1;
      else differences += 1;
      const line = lineOf(finding, outcome, json);
      if (listed.has(line)) return;
      progress.line(line);
      if (repair && !outcome.repaired && listed.size < MAX_LISTED) listed.add(line);
    });
    repaired += repairedNow;
    if (repairedNow > 0) continue;
    process.stdout.write(`${summaryOf({ records, differences, repaired }, json)}\n`);
    return differences === 0 ? 0 : 1;
  }
}
