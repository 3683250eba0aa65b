import cluster from 'node:cluster';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type { Logger } from 'pino';

/**
 * Logs JSON lines to stderr, readable ones if it is a terminal; stdout is for the output of commands.
 *
 * @param level of pino, from `fatal` to `trace`, or `silent`
 * @param name the kind of process, in every line
 */
export function createLogger(level: string, name: string): Logger {
  const options = {
    level,
    name,
    redact: { paths: ['*.authorization', '*.token', '*.cookie'], censor: '[redacted]' },
  };
  if (process.stderr.isTTY) {
    return pino(
      options,
      pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' }),
    );
  }
  // A worker shares descriptor 2 with its manager, which records only what the worker writes to the stream.
  if (cluster.isWorker) return pino(options, process.stderr);
  return pino(options, pino.destination({ fd: 2, sync: true }));
}
