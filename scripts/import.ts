import { readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';
import { withDomain } from './command/with-domain.js';
import { importFile } from './import/import-file.js';
import { inspectFile, UnreadableFile } from './import/source.js';

const usage = `Usage: npm run import -- FILE

Reads members and adoption posts from FILE into the database: a JSON array, NDJSON or CSV with a header
row, by the ending of its name (.json, .ndjson, .jsonl, .csv) or else by its content; UTF-8.

  record     member                            adoption
  fields     email, nickname,                  id?, title, author (an e-mail address), name, age, kind,
             profile?, role? (USER, ADMIN)     latitude, longitude, thumbnail

An invalid row is reported with its line and skipped; the others are stored. The same file may be
imported again: members are identified by email, posts by id or else by author, title and name.

Exit status: 0 all rows were stored, 1 some were rejected, 2 the file could not be read.`;

await runCommand(usage, async (args) => {
  const { positionals } = readArguments({ args, allowPositionals: true, options: {} });
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) throw new UsageError('one file is needed');
  try {
    const file = await inspectFile(path);
    return await withDomain('import', (domain) => importFile(domain, path, file), { creates: true });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
});
