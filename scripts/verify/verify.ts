import type { Check, Finding } from '../../domain/kernel/verification.js';
import { createProgress, type Progress } from '../command/progress.js';

/** A repair can reveal differences in dependent records; if more rounds are needed, repairing fails. */
const MAX_ROUNDS = 3;

async function runAll(
  checks: Check[],
  onFinding: (finding: Finding, progress: Progress) => Promise<void>,
): Promise<number> {
  const sizes = await Promise.all(checks.map((check) => check.size()));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const progress = createProgress(total, 'verify');
  try {
    for (const check of checks) {
      for await (const finding of check.run(progress.advance)) await onFinding(finding, progress);
    }
  } finally {
    progress.stop();
  }
  return total;
}

/**
 * Runs the checks and prints the differences.
 *
 * @param repair repairs them, and checks again until nothing is left to repair
 * @returns the exit status: 0 if everything agrees in the end, else 1
 */
export async function verify(checks: Check[], repair: boolean): Promise<number> {
  let repaired = 0;
  for (let round = 1; ; round += 1) {
    let left = 0;
    let repairedNow = 0;
    const records = await runAll(checks, async ({ text, repair: repairIt }, progress) => {
      if (!repair || !repairIt || round > MAX_ROUNDS) {
        left += 1;
        // Later rounds find what the first has printed.
        if (round === 1 || round > MAX_ROUNDS) progress.line(text);
        return;
      }
      await repairIt();
      repairedNow += 1;
      progress.line(`${text}: repaired`);
    });
    repaired += repairedNow;
    if (repairedNow > 0) continue;
    const result = left === 0 ? 'everything agrees' : left === 1 ? '1 difference' : `${left} differences`;
    process.stdout.write(`${result}${repaired > 0 ? `, ${repaired} repaired` : ''} (${records} records)\n`);
    return left === 0 ? 0 : 1;
  }
}
