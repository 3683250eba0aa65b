import { z } from 'zod';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { requireNode } from './command/require-node.js';
import { runCommand, UsageError } from './command/run-command.js';

requireNode();

const usage = `Usage: npm run cluster
       npm run cluster -- status [--json]
       npm run cluster -- logs [--lines N] [--follow]
       npm run cluster -- scale gateways=N http=N
       npm run cluster -- reload [--resume | --back]
       npm run cluster -- stop

Runs the service as several processes on this machine, under the project's own pm2: GATEWAY_INSTANCES (3)
gateways, HTTP_INSTANCES (2) http processes and, if MONGODB_URI is not set, the embedded database.
Needs REDIS_URL. Configuration comes from the environment and .env; see docs/operations.md.

  (nothing)  starts it, and returns when every process is ready
  status     prints a table of its processes, with --json for programs; exit status 1 if one is not online,
             3 if none runs
  logs       prints the last lines (--lines, 20) of the log of each kind of process; --follow goes on with
             new ones until Ctrl-C
  scale      adds or removes gateways, http processes or both; those removed are drained: no request fails
  reload     replaces one process after the other, each once the previous one is ready: no request fails. It ends
             at one that does not start; --resume goes on with it, --back replaces those that it had replaced by what
             this folder and its .env hold now, with their former environment
  stop       drains and ends every process, the database last, and pm2`;

const optionSchema = z.object({
  json: z.boolean().default(false),
  lines: z
    .string()
    .regex(/^\d{1,6}$/, 'must be a number of lines from 0 to 999999')
    .transform(Number)
    .default(20),
  follow: z.boolean().default(false),
  resume: z.boolean().default(false),
  back: z.boolean().default(false),
});

interface Action {
  /** Those it takes. */
  options?: string[];
  run(options: z.output<typeof optionSchema>, args: string[]): Promise<number>;
}

/** Loaded on demand: `status` needs neither the domain nor the gateway. */
const actions: Record<string, Action> = {
  start: { run: async () => (await import('./cluster/start.js')).startCluster() },
  status: {
    options: ['json'],
    run: async ({ json }) => (await import('./cluster/status.js')).showStatus(json),
  },
  logs: {
    options: ['lines', 'follow'],
    run: async ({ lines, follow }) => (await import('./cluster/logs.js')).showLogs(lines, follow),
  },
  scale: { run: async (_, args) => (await import('./cluster/scale.js')).scaleCluster(args) },
  reload: {
    options: ['resume', 'back'],
    run: async ({ resume, back }) => {
      if (resume && back) throw new UsageError('reload takes --resume or --back, not both');
      const mode = resume ? 'resume' : back ? 'back' : 'all';
      return (await import('./cluster/reload.js')).reloadCluster(mode);
    },
  },
  stop: { run: async () => (await import('./cluster/stop.js')).stopCluster() },
};

await runCommand(usage, async (args) => {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'boolean' },
      lines: { type: 'string' },
      follow: { type: 'boolean' },
      resume: { type: 'boolean' },
      back: { type: 'boolean' },
    },
  });
  const [name = 'start', ...rest] = positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw new UsageError(`there is no action ${name}`);
  if (rest.length > 0 && name !== 'scale') throw new UsageError('one action at a time');
  const foreign = Object.keys(values).find((option) => !action.options?.includes(option));
  if (foreign) throw new UsageError(`${name} takes no --${foreign}`);
  return action.run(checkArguments(optionSchema, values), rest);
});
