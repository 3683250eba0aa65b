import cluster from 'node:cluster';
import { type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { describeError } from './describe-error.js';

export type { Logger } from 'pino';

/** Only a terminal needs it, and loading it takes a short process a tenth of its time. */
const pretty = process.stderr.isTTY ? (await import('pino-pretty')).default : undefined;

/**
 * Logs to stderr: an object of JSON per line, or text if it is a terminal; stdout is for the output of commands.
 *
 * @param level of pino, from `fatal` to `trace`, or `silent`
 * @param name the kind of process, in every line beside its pid and host
 * @param form `json` also on a terminal, as in production; a stream gets JSON, and its errors are the caller's
 */
export function createLogger(
  level: string,
  name: string,
  form: 'json' | 'text' | NodeJS.WritableStream = 'text',
): Logger {
  const options: LoggerOptions = {
    level,
    name,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    redact: { paths: ['*.authorization', '*.token', '*.cookie'], censor: '[redacted]' },
  };
  if (typeof form !== 'string') return pino(options, form);
  if (pretty && form === 'text') {
    return pino(
      options,
      pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' }),
    );
  }
  // A worker shares descriptor 2 with its manager, which records only what the worker writes to the stream.
  if (cluster.isWorker) return pino(options, process.stderr);
  return pino(options, pino.destination({ fd: 2, sync: true }));
}
