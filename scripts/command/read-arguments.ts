import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './run-command.js';

/**
 * Parses a command's arguments (node:util parseArgs).
 * @throws UsageError naming an option that does not exist, lacks its value or takes none
 */
export function readArguments<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!(error instanceof Error) || !code?.startsWith('ERR_PARSE_ARGS')) throw error;
    // The first sentence names the fault; the others explain node's syntax.
    throw new UsageError(error.message.split('. ')[0]);
  }
}
