import { readArguments } from './arguments.js';
import { runCommand, UsageError } from './command.js';
import { computeSizing } from './scaling/compute.js';
import { readInputs } from './scaling/inputs.js';
import { formatReport } from './scaling/report.js';

const usage = `Usage: npm run --silent scaling -- [options]

Works out what a number of connected members takes, from the cost of a connection and of a message;
docs/scaling.md explains the result.

  --members LIST   numbers of connected members, separated by commas (default 10000,1000000,100000000)
  --measured FILE  JSON of figures to use instead of the built-in ones: {"messageUs": 61}
  --json           the result as JSON`;

await runCommand(usage, async (args) => {
  const { values } = readArguments({
    args,
    options: {
      members: { type: 'string', default: '10000,1000000,100000000' },
      measured: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const members = values.members.split(',').map(Number);
  if (!members.every((count) => Number.isSafeInteger(count) && count > 0))
    throw new UsageError('--members needs positive whole numbers');
  const inputs = readInputs(values.measured);
  const sizings = members.map((count) => computeSizing(count, inputs));
  const text = values.json ? JSON.stringify({ inputs, sizings }, null, 2) : formatReport(inputs, sizings);
  process.stdout.write(`${text.trimEnd()}\n`);
  return 0;
});
