import { endOnSignals } from '../domain/platform/process/shutdown.js';
import { requireNode } from './command/require-node.js';

requireNode();
endOnSignals();
// With an older version of Node this import may fail; and loading the rest takes most of a start.
const { runCommand } = await import('./command/run-command.js');

const usage = `Usage: npm start

Runs the whole service on this machine: REST, event streams, sockets and, if MONGODB_URI is not set, the
embedded database. Configuration comes from the environment and .env; see docs/reference/settings.md.`;

await runCommand(usage, async () => {
  const { startEverything } = await import('./start/start-everything.js');
  await startEverything();
  return undefined;
});
// What a failed start has not closed must not keep the process.
if (process.exitCode) process.exit();
