import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { divert } from './failing-disk.js';

/** Loaded before a database's program: on SIGUSR2 its disk takes pages but no root page any more. */
process.on('SIGUSR2', () => {
  const { values } = parseArgs({ options: { 'data-dir': { type: 'string' } }, strict: false });
  divert(join(String(values['data-dir']), 'mongo'), 'roots', '/dev/full');
});
