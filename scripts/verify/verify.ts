import type { Check, Finding } from '../../domain/kernel/verification.js';
import { createProgress, type Progress } from '../command/progress.js';

/** A mended record can bring to light what hung on it; more rounds than this mean that mending fails. */
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

function things(count: number): string {
  return count === 1 ? '1 thing disagrees' : `${count} things disagree`;
}

/**
 * Runs the checks and prints what disagrees.
 *
 * @param repair mends it too, and then looks again until nothing is left to mend
 * @returns the exit status: 0 when everything agrees in the end, else 1
 */
export async function verify(checks: Check[], repair: boolean): Promise<number> {
  let mended = 0;
  for (let round = 1; ; round += 1) {
    let left = 0;
    let mendedNow = 0;
    const looked = await runAll(checks, async ({ text, mend }, progress) => {
      if (!repair || !mend || round > MAX_ROUNDS) {
        left += 1;
        // Looking again, only what is new is told again.
        if (round === 1 || round > MAX_ROUNDS) progress.line(text);
        return;
      }
      await mend();
      mendedNow += 1;
      progress.line(`${text}: mended`);
    });
    mended += mendedNow;
    if (mendedNow > 0) continue;
    const before = mended > 0 ? `, ${mended} mended` : '';
    process.stdout.write(`${left === 0 ? 'everything agrees' : things(left)}${before} (${looked} records)\n`);
    return left === 0 ? 0 : 1;
  }
}
