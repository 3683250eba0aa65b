import cluster from 'node:cluster';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type { Logger } from 'pino';

/**
 * The process's log: JSON lines on stderr, or readable lines where stderr is a terminal. Standard
 * output stays free for what a command is asked to print.
 *
 * @param level pino's, from `fatal` to `trace`, or `silent`
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
  // The descriptors of a worker are its manager's own; what the manager keeps of it goes through the stream.
  if (cluster.isWorker) return pino(options, process.stderr);
  return pino(options, pino.destination({ fd: 2, sync: true }));
}
