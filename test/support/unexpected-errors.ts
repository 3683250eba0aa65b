import { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';

/** Log lines of level error and above that no test has claimed. */
let lines: string[] = [];

/** The service's log while it is tested: only errors are kept, and each one has to be expected. */
export function createWatchedLogger(): Logger {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk).trim());
      done();
    },
  });
  return pino({ level: 'error' }, sink);
}

/** Takes the errors logged so far: for the test that meant to cause them. */
export function takeErrors(): string[] {
  const taken = lines;
  lines = [];
  return taken;
}
