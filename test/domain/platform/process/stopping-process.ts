import { createLogger } from '../../../../domain/platform/observe/logger.js';
import { Shutdown, stopOnSignals } from '../../../../domain/platform/process/shutdown.js';

/**
 * A process with an ordered stop, for test/domain/platform/process/shutdown.test.ts. It does what its parent says, and
 * tells how far its stop is and how often something unexpected happened.
 */
const logger = createLogger('error', 'stopping');
const shutdown = new Shutdown(logger, 60_000);
let unexpected = 0;
stopOnSignals(shutdown, logger, () => {
  unexpected += 1;
});

const tell = (message: string) => new Promise<void>((resolve) => process.send?.(message, () => resolve()));

shutdown.add('first', () => tell('first'));
process.on('message', (order) => {
  if (order === 'hang') shutdown.add('hangs', () => new Promise(() => {}));
  if (order === 'reject') void Promise.reject(new Error('nobody awaits this'));
  if (order === 'throw') setImmediate(() => JSON.parse('{'));
  if (order === 'log') logger.error({ req: { authorization: 'a', token: 'b', cookie: 'c', url: 'd' } }, 'e');
  if (order === 'count') void tell(`${unexpected} unexpected`);
});
void tell('ready');
