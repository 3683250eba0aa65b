import { z } from 'zod';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { runCommand } from './command/run-command.js';
import { inspectAddress, isSameServer } from './doctor/address.js';
import { backupChecks } from './doctor/backups.js';
import { type Check, type Finding, runChecks } from './doctor/check.js';
import { clockChecks } from './doctor/clocks.js';
import { inspectDatabase } from './doctor/database.js';
import { machineChecks } from './doctor/machine.js';
import { ownPortChecks } from './doctor/own-ports.js';
import { inspectPorts } from './doctor/ports.js';
import { inspectRedis } from './doctor/redis.js';
import { countResults, lineOf, summaryOf } from './doctor/report.js';
import { readSettings } from './doctor/settings.js';
import { inspectToken } from './doctor/token.js';

const usage = `Usage: npm run doctor [-- options]

Checks an installation with its settings, one line for each check: ok, warning, failure or skipped, and what
to do about it. It changes nothing, except that the member doctor@example.org is created when a token is signed here.

  --url URL           the public address, to check the proxy, if any; without it, the service on this machine
  --gateway-url URL   the public address of the sockets, if it is another one
  --token TOKEN       a member's token; needed where tokens are signed elsewhere
  --backups DIR       the folder with the backups (default: that of npm run db -- dump, under DATA_DIR)
  --json              prints JSON

Exit status: 0 no failures, 1 failures, 2 wrong usage.`;

/** An address without a query, which paths are appended to. */
const address = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

const schema = z.object({
  url: address.optional(),
  'gateway-url': address.optional(),
  token: z.string().min(1, 'must not be empty').optional(),
  backups: z.string().min(1, 'must not be empty').optional(),
  json: z.boolean().default(false),
});

type Options = z.output<typeof schema>;

/** All checks, in the order of the report. */
function listChecks(options: Options): Check[] {
  const { url, 'gateway-url': gatewayUrl, token: given, backups } = options;
  const { checks: settings, config } = readSettings();
  const ports = inspectPorts(config);
  const httpBase = async () => url ?? ports.httpBase();
  /** Whether --url is missing, or the service's own port on this machine: nothing stands in front of it. */
  const isDirect = async () =>
    url === undefined || isSameServer(url, await ports.httpBase().catch(() => undefined));
  const gatewayBase = async () => {
    if (gatewayUrl !== undefined) return gatewayUrl;
    return url === undefined || (await isDirect()) ? ports.gatewayBase() : url;
  };
  const database = inspectDatabase(config);
  const redis = inspectRedis(config);
  const token = inspectToken(config, given, httpBase);
  const publicAddress = inspectAddress(config, { url, isDirect, httpBase, gatewayBase }, token.accepted);
  return [
    ...settings,
    ...machineChecks(config, ports),
    ...ports.checks,
    ...ownPortChecks(config, ports.isServing),
    ...database.checks,
    ...redis.checks,
    ...token.checks,
    ...publicAddress.checks,
    ...clockChecks(database.skewMs, redis.skewMs, publicAddress.answer),
    ...backupChecks(config, backups),
  ];
}

await runCommand(usage, async (args) => {
  const { values } = readArguments({
    args,
    options: {
      url: { type: 'string' },
      'gateway-url': { type: 'string' },
      token: { type: 'string' },
      backups: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  const options = checkArguments(schema, values);
  const findings: Finding[] = [];
  const isColoured = Boolean(process.stdout.isTTY) && !process.env.NO_COLOR;
  const isLate = await runChecks(listChecks(options), (finding) => {
    findings.push(finding);
    if (!options.json) process.stdout.write(`${lineOf(finding, isColoured)}\n`);
  });
  const status = countResults(findings).failure > 0 ? 1 : 0;
  if (options.json) process.stdout.write(`${JSON.stringify({ status, findings }, undefined, 2)}\n`);
  else process.stdout.write(`\n${summaryOf(findings)}\n`);
  // What a check still waits for would keep the process running.
  if (isLate) setTimeout(() => process.exit(status), 100).unref();
  return status;
});
