import { z } from 'zod';
import { text } from '../domain/kernel/input.js';
import { issueToken } from '../domain/members/index.js';
import { loadConfig } from '../domain/platform/settings/config.js';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';

const usage = `Usage: npm run --silent token -- EMAIL [options]

Prints an access token for a member; the member is created when the token is first used.

  --nickname NAME   the member's nickname (default: the part of EMAIL before the @)
  --profile URL     the member's picture
  --role ROLE       USER or ADMIN
  --ttl SPAN        lifetime: 90s, 30m, 12h, 7d or 2w (default 12h)`;

/** The claims that the service reads from the token: values that it would ignore are refused. */
const schema = z.object({
  EMAIL: z.email('is not an e-mail address').max(254, 'must have at most 254 characters'),
  nickname: text(50).optional(),
  profile: text(2_048).optional(),
  role: z.enum(['USER', 'ADMIN'], 'must be USER or ADMIN').optional(),
  ttl: z
    .string()
    .regex(/^[1-9]\d{0,5}[smhdw]$/, 'must be a span such as 90s, 30m, 12h, 7d or 2w')
    .default('12h'),
});

await runCommand(usage, async (args) => {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: {
      nickname: { type: 'string' },
      profile: { type: 'string' },
      role: { type: 'string' },
      ttl: { type: 'string' },
    },
  });
  if (positionals.length !== 1) throw new UsageError('one e-mail address is needed');
  const { EMAIL: email, ...claims } = checkArguments(schema, { EMAIL: positionals[0], ...values });
  const token = await issueToken(loadConfig(), { email, ...claims });
  process.stdout.write(`${token}\n`);
  return 0;
});
