import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { z } from 'zod';
import { InvalidArguments, UsageError } from './run-command.js';

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
    // The first sentence names the fault; the others explain Node's syntax.
    throw new UsageError(error.message.split('. ')[0]);
  }
}

/**
 * Checks the values of a command's arguments.
 * @param schema of an object: options by name, positional arguments by their name in capitals
 * @throws InvalidArguments
 */
export function checkArguments<T extends z.ZodType>(schema: T, values: unknown): z.output<T> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  throw new InvalidArguments(
    parsed.error.issues.map(({ path, message }) => {
      const name = path.join('.');
      if (name === '') return message;
      return `${/^[A-Z]/.test(name) ? name : `--${name}`}: ${message}`;
    }),
  );
}
