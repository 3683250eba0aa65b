import '../domain/domain.js';
import { connectMongo, disconnectMongo } from '../domain/platform/mongo/connection.js';
import { type MigrationReport, migrate, UNFINISHED } from '../domain/platform/mongo/migrate.js';
import { SCHEMA_VERSION } from '../domain/platform/mongo/schema-version.js';
import { loadConfig } from '../domain/platform/settings/config.js';
import { openDatabase, requireDatabase } from './command/open-database.js';
import { createProgress } from './command/progress.js';
import { readArguments } from './command/read-arguments.js';
import { runCommand } from './command/run-command.js';

const usage = `Usage: npm run migrate [-- --finish] [--dry-run]

Builds missing indexes and brings the data to this release's schema version, beside running processes of the
release before. Interrupted, it continues with the next run; a second one waits for the first.

  --finish    once no process of the release before runs: repeats what they wrote meanwhile, and removes what
              only they need
  --dry-run   prints what would be done, and changes nothing

Exit status: 0 done, 1 refused or failed, 130 interrupted.`;

/** Exit status of a command ended by Ctrl-C, as shells report it. */
const INTERRUPTED = 130;

/** Lines on standard output, a bar per step on a terminal. */
function createReport(): MigrationReport {
  return {
    line: (text) => process.stdout.write(`${text}\n`),
    begin(total, what) {
      const progress = createProgress(total, what);
      return { advance: progress.advance, end: progress.stop };
    },
  };
}

await runCommand(usage, async (args) => {
  const { values } = readArguments({
    args,
    options: {
      finish: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
  });
  const isDry = values['dry-run'];
  const config = loadConfig();
  requireDatabase(config);
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const database = await openDatabase(config);
  try {
    await connectMongo(database.uri);
    const extent = values.finish ? 'finish' : 'prepare';
    const { signal } = controller;
    const state = await migrate(database.uri, { extent, report: createReport(), isDry, signal });
    if (isDry)
      process.stdout.write(`schema version ${state.prepared} of ${SCHEMA_VERSION}: nothing was changed\n`);
    else if (state.finished < SCHEMA_VERSION) process.stdout.write(`${UNFINISHED}\n`);
    else process.stdout.write(`schema version ${state.finished}: nothing is left to do\n`);
    return 0;
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    process.stderr.write('interrupted: the next run continues\n');
    return INTERRUPTED;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await disconnectMongo();
    await database.close();
  }
});
