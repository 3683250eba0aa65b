import { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';

/** Logged errors that no test has taken. */
let lines: string[] = [];

/** The log of a service under test: it keeps errors only, and each must be expected. */
export function createWatchedLogger(): Logger {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk).trim());
      done();
    },
  });
  return pino({ level: 'error' }, sink);
}

/** Removes and returns the errors logged so far, for the test that causes them on purpose. */
export function takeErrors(): string[] {
  const taken = lines;
  lines = [];
  return taken;
}
