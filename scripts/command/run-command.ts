import { AppError } from '../../domain/kernel/errors.js';
import { ConfigError } from '../../domain/platform/settings/config.js';

/** A reader that has read enough, as `head` does, has closed the pipe; the terminal has been closed. */
const GONE = ['EPIPE', 'EIO'];

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!GONE.includes(error.code ?? '')) throw error;
  // What has to clean up listens.
  if (!process.emit('SIGHUP', 'SIGHUP')) process.exit();
});
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (!GONE.includes(error.code ?? '')) throw error;
});

/** Wrong usage of a command. Its message is printed, followed by the usage. */
export class UsageError extends Error {}

/** Arguments with invalid values: one line per fault. */
export class InvalidArguments extends Error {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}

/** The lines that explain an error. */
function linesOf(error: unknown): string[] {
  if (error instanceof ConfigError || error instanceof InvalidArguments) return error.faults;
  if (error instanceof AppError) return error.errors;
  if (error instanceof UsageError) return [error.message];
  return [error instanceof Error ? error.message : String(error)];
}

/**
 * Runs a command: `--help` prints its usage; an error prints one line per fault to stderr and sets exit
 * status 1 (2 for wrong usage).
 *
 * @param usage its syntax, with every option
 * @param main gets the arguments and returns the exit status
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
    process.exitCode = error instanceof UsageError || error instanceof InvalidArguments ? 2 : 1;
  }
}
