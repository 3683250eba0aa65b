import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { text } from '../domain/kernel/input.js';
import { announceToAll } from './announce/announce-to-all.js';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';
import { withDomain } from './command/with-domain.js';

const usage = `Usage: npm run announce -- TEXT [options]

Notifies every member of TEXT (at most 200 characters). Running it twice announces twice.

  --url PATH     the app's page that the notification opens, for example /board/12
  --resume KEY   completes an interrupted announcement by the key it printed; nobody is notified twice`;

const schema = z.object({
  TEXT: text(200),
  url: z
    .string()
    .max(2_048, 'must have at most 2048 characters')
    .regex(/^(?!\/\/)(?![A-Za-z][A-Za-z0-9+.-]*:)[^\s\\\p{Cc}]*$/u, 'must be a path inside the app')
    .default('')
    // A relative path would resolve against the page that shows it.
    .transform((path) => (path.startsWith('/') ? path : `/${path}`)),
  resume: z
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
  const {
    TEXT: content,
    url,
    // Hexadecimal: a key that began with a dash would be read as an option.
    resume: key = randomBytes(6).toString('hex'),
  } = checkArguments(schema, { TEXT: positionals[0], ...values });
  return withDomain('announce', (domain) => announceToAll(domain, { key, content, url }));
});
