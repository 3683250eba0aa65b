import { AppError } from '../../domain/kernel/errors.js';
import { ConfigError } from '../../domain/platform/config.js';

/** A command that was called wrongly: its message says how, the usage is printed behind it. */
export class UsageError extends Error {}

/** The lines a person needs of a failure; of what we did not foresee, the whole of it. */
function linesOf(error: unknown): string[] {
  if (error instanceof ConfigError) return error.faults;
  if (error instanceof AppError) return error.errors;
  if (error instanceof UsageError) return [error.message];
  if (error instanceof Error && error.message.split('\n').length === 1) return [error.message];
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

/**
 * Runs a command-line script: `--help` prints its usage, a failure is one line per fault on stderr
 * and exit status 1 (2 for a wrong call).
 *
 * @param usage how it is called, with every option
 * @param main gets the arguments; what it returns is the exit status
 */
export async function runCommand(
  usage: string,
  main: (args: string[]) => Promise<number | undefined>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  try {
    process.exitCode = (await main(args)) ?? 0;
  } catch (error) {
    for (const line of linesOf(error)) process.stderr.write(`${line}\n`);
    if (error instanceof UsageError) process.stderr.write(`\n${usage}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
