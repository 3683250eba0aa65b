import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './run-command.js';

/**
 * Reads a command's arguments (node:util parseArgs).
 * @throws UsageError naming an option that does not exist, lacks its value or was given one too many
 */
export function readArguments<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!(error instanceof Error) || !code?.startsWith('ERR_PARSE_ARGS')) throw error;
    // The first sentence says what is wrong; the rest explains node's own syntax.
    throw new UsageError(error.message.split('. ')[0]);
  }
}
