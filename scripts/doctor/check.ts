/** The result of a check, in one line. */
export interface Verdict {
  result: 'ok' | 'warning' | 'failure' | 'skipped';
  text: string;
  /** What to do about it. */
  remedy?: string;
}

/** A verdict and the name of its check. */
export type Finding = { check: string } & Verdict;

/** One question about an installation. */
export interface Check {
  name: string;
  /** Several verdicts are a line each. Rejects with Fault or Skipped, too; with any other error the check has failed. */
  run(): Verdict | Verdict[] | Promise<Verdict | Verdict[]>;
}

export const ok = (text: string): Verdict => ({ result: 'ok', text });
export const warning = (text: string, remedy: string): Verdict => ({ result: 'warning', text, remedy });
export const failure = (text: string, remedy: string): Verdict => ({ result: 'failure', text, remedy });

/** Why a check fails that cannot even reach what it asks about. */
export class Fault extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, cause?: unknown) {
    super(message, { cause });
    this.remedy = remedy;
  }
}

/** Why a check cannot run. */
export class Skipped extends Error {}

/** Longest time of a check, ms. All run at once, so that the command ends within twice that. */
const LIMIT_MS = 7_000;

/** The time limit of a check has passed; what it waits for may keep the process running. */
const LATE = Symbol('late');

/**
 * What several checks ask about, read once. The check that is about reaching it uses `read`, which rejects with the
 * fault; the others use `given`, which then skips them.
 *
 * @param absent why those are skipped
 */
export function shared<T>(absent: string, load: () => Promise<T>) {
  let loading: Promise<T> | undefined;
  const read = () => {
    loading ??= load();
    return loading;
  };
  return {
    read,
    given: () =>
      read().catch((error) => {
        throw error instanceof Skipped ? error : new Skipped(absent);
      }),
  };
}

export type Shared<T> = ReturnType<typeof shared<T>>;

/** The verdict of a check that rejects. */
export function verdictOf(error: unknown): Verdict {
  const { message: text } = error as Error;
  if (error instanceof Skipped) return { result: 'skipped', text };
  if (error instanceof Fault) return failure(text, error.remedy);
  return { result: 'failure', text: `the check failed: ${text}` };
}

/** Runs one check, LIMIT_MS at most. */
async function runCheck({ name, run }: Check): Promise<{ findings: Finding[]; isLate: boolean }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), LIMIT_MS);
  });
  const verdict = await Promise.race([(async () => run())().catch(verdictOf), late]);
  clearTimeout(timer);
  if (verdict !== LATE)
    return { findings: [verdict].flat().map((one) => ({ check: name, ...one })), isLate: false };
  const text = `no result within ${LIMIT_MS / 1_000} s`;
  return { findings: [{ check: name, result: 'failure', text }], isLate: true };
}

/**
 * Runs all checks at once.
 * @param report called with each finding, in the order of the checks
 * @returns whether a check is still waiting for something
 */
export async function runChecks(checks: Check[], report: (finding: Finding) => void): Promise<boolean> {
  let anyLate = false;
  for (const running of checks.map(runCheck)) {
    const { findings, isLate } = await running;
    findings.forEach(report);
    anyLate ||= isLate;
  }
  return anyLate;
}
