import { requireNode } from './command/require-node.js';
import { runCommand } from './command/run-command.js';

requireNode();

const usage = `Usage: npm start

Runs the whole service on this machine: REST, event streams, sockets and, if MONGODB_URI is not set, the
embedded database. Configuration comes from the environment and .env; see the table in README.md.`;

await runCommand(usage, async () => {
  // After requireNode: with an older version of Node this import may fail.
  const { startEverything } = await import('./start/start-everything.js');
  await startEverything();
  return undefined;
});
