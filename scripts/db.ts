import { loadConfig } from '../domain/platform/config.js';
import { openDatabase } from './command/open-database.js';
import { createProgress } from './command/progress.js';
import { readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';
import { countAll, countDump, dump, restore } from './embedded-mongo/dump.js';

const usage = `Usage: npm run db -- dump DIR
       npm run db -- restore DIR

dump writes the database (MONGODB_URI, or the embedded one of DATA_DIR) to DIR in mongodump's layout;
restore reads such a folder into a database whose collections are empty; a damaged folder is refused before
anything is written. For a consistent snapshot, dump
while the service is stopped: collections are read one after the other.`;

await runCommand(usage, async (args) => {
  const { positionals } = readArguments({ args, allowPositionals: true, options: {} });
  const [action, dir] = positionals;
  if (dir === undefined || positionals.length > 2)
    throw new UsageError('an action and one folder are needed');
  if (action !== 'dump' && action !== 'restore') throw new UsageError(`there is no action ${action}`);
  const database = await openDatabase(loadConfig());
  try {
    const dumping = action === 'dump';
    const progress = createProgress(await (dumping ? countAll(database.uri) : countDump(dir)), action);
    try {
      const advance = (_collection: string, documents: number) => progress.advance(documents);
      const total = await (dumping ? dump(database.uri, dir, advance) : restore(database.uri, dir, advance));
      progress.line(`${dumping ? 'Dumped' : 'Restored'} ${total} documents`);
    } finally {
      progress.stop();
    }
  } finally {
    await database.close();
  }
  return 0;
});
