import { readArguments } from './command/read-arguments.js';
import { requireNode } from './command/require-node.js';
import { runCommand, UsageError } from './command/run-command.js';

requireNode();

const usage = `Usage: npm run cluster
       npm run cluster -- status | reload | stop

Runs the service as several processes on this machine, under the project's own pm2: GATEWAY_INSTANCES (3)
gateways, HTTP_INSTANCES (2) http processes and, if MONGODB_URI is not set, the embedded database.
Needs REDIS_URL. Configuration comes from the environment and .env; see docs/operations.md.

  (nothing)  starts it, and returns when every process is ready
  status     prints a table of its processes; exit status 1 if one is not online, 3 if none runs
  reload     replaces one process after the other, each once the previous one is ready: no request fails
  stop       drains and ends every process, the database last, and pm2`;

await runCommand(usage, async (args) => {
  const { positionals } = readArguments({ args, allowPositionals: true, options: {} });
  const [action = 'start'] = positionals;
  if (positionals.length > 1) throw new UsageError('one action at a time');
  // Loaded on demand: `status` needs neither the domain nor the gateway.
  switch (action) {
    case 'start':
      return (await import('./cluster/start.js')).startCluster();
    case 'status':
      return (await import('./cluster/status.js')).showStatus();
    case 'reload':
      return (await import('./cluster/reload.js')).reloadCluster();
    case 'stop':
      return (await import('./cluster/stop.js')).stopCluster();
    default:
      throw new UsageError(`there is no action ${action}`);
  }
});
