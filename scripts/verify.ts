import { allChecks } from '../domain/checks.js';
import { livingProcesses } from '../domain/platform/cluster/heartbeat.model.js';
import { readArguments } from './command/read-arguments.js';
import { runCommand } from './command/run-command.js';
import { withDomain } from './command/with-domain.js';
import { verify } from './verify/verify.js';

const usage = `Usage: npm run --silent verify [-- --repair] [--json]

Recomputes every stored count, unread count, read position and sequence number from the records and lists
the differences, one line each. A service may run meanwhile: what it is changing is not reported. Without --repair
nothing is written.

  --repair   repairs them, and builds unique indexes that are missing. Repairs that renumber messages or notifications
             are left until the service is stopped: it keeps the newest numbers in memory.
  --json     prints a JSON object per line: one for each difference ("type": "finding"; area, kind, record, found,
             expected, text, repaired, reason), then one with the totals ("type": "summary"; agrees, records,
             differences, repaired)

Exit status: 0 everything agrees or was repaired; 1 something disagrees, or the check failed; 2 wrong usage.`;

await runCommand(usage, async (args) => {
  const { values } = readArguments({
    args,
    options: {
      repair: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const options = { ...values, livingProcesses };
  return withDomain('verify', () => verify(allChecks(), options), {
    access: values.repair ? 'repairs' : 'reads',
  });
});
