import { requireNode } from './command/require-node.js';
import { runCommand } from './command/run-command.js';

requireNode();

const usage = `Usage: npm start

Runs the whole service on this machine: REST, event streams, sockets and, where MONGODB_URI is not set,
the embedded database. Configuration comes from the environment and .env; README.md has the table.`;

await runCommand(usage, async () => {
  // Only now: on another Node the import itself would fail.
  const { startEverything } = await import('./start/start-everything.js');
  await startEverything();
  return undefined;
});
