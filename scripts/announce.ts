import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { text } from '../domain/kernel/input.js';
import { announceToAll } from './announce/announce-to-all.js';
import { readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';
import { withDomain } from './command/with-domain.js';

const usage = `Usage: npm run announce -- TEXT [options]

Notifies every member of TEXT (at most 200 characters). Running it twice announces twice.

  --url PATH     the app's page that the notification opens, for example /board/12
  --resume KEY   completes an interrupted announcement by the key it printed; nobody is notified twice`;

const schema = z.object({
  TEXT: text(200),
  '--url': z
    .string()
    .max(2_048, 'must have at most 2048 characters')
    .regex(/^(?!\/\/)(?![A-Za-z][A-Za-z0-9+.-]*:)[^\s\\\p{Cc}]*$/u, 'must be a path inside the app')
    .default(''),
  '--resume': z
    .string()
    .regex(/^[\w-]{12}$/, 'must be a key printed by an announcement')
    .optional(),
});

await runCommand(usage, async (args) => {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: { url: { type: 'string' }, resume: { type: 'string' } },
  });
  if (positionals.length !== 1) throw new UsageError('one text is needed, in quotes');
  const parsed = schema.safeParse({
    TEXT: positionals[0],
    '--url': values.url,
    '--resume': values.resume,
  });
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues)
      process.stderr.write(`${path.join('.')}: ${message}\n`);
    return 2;
  }
  const { TEXT: content, '--url': url, '--resume': resumed } = parsed.data;
  // Hexadecimal: a key that began with a dash would be read as an option.
  const key = resumed ?? randomBytes(6).toString('hex');
  return withDomain('announce', (domain) => announceToAll(domain, { key, content, url }));
});
