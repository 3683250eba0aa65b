import { existsSync } from 'node:fs';
import { join } from 'node:path';
// Registers the models, whose indexes are checked.
import '../../domain/domain.js';
import { inspectMongo, type MongoFacts } from '../../domain/platform/mongo/inspect.js';
import { UNFINISHED } from '../../domain/platform/mongo/migrate.js';
import { requireState, SCHEMA_VERSION } from '../../domain/platform/mongo/schema-version.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { openDatabase } from '../command/open-database.js';
import { type Check, Fault, failure, ok, Skipped, shared, type Verdict, warning } from './check.js';

type Judged = MongoFacts & { isEmbedded: boolean };

/** The servers of a MongoDB connection string, without user and password. */
const hostsOf = (uri: string) => uri.replace(/^mongodb(?:\+srv)?:\/\/(?:.*@)?([^/?]*).*$/s, '$1');

/** @throws Skipped before the first start, Fault if the database cannot be opened */
async function readFacts(config: Config): Promise<Judged> {
  const { MONGODB_URI: uri, DATA_DIR } = config;
  if (!uri && !existsSync(join(DATA_DIR, 'mongo', 'data.mdb')))
    throw new Skipped(`no embedded database in ${DATA_DIR} yet: the first start creates it`);
  try {
    const database = await openDatabase(config);
    try {
      return { ...(await inspectMongo(database.uri)), isEmbedded: !uri };
    } finally {
      await database.close();
    }
  } catch (error) {
    const { cause, message: ours } = error as Error & { cause?: Error };
    const message = cause?.message ?? ours;
    if (!uri) throw new Fault(message, 'docs/embedded-database.md; DATA_DIR/logs/database.log');
    throw new Fault(
      `MongoDB at ${hostsOf(uri)} cannot be used: ${message.replaceAll(uri, '')}`,
      'check MONGODB_URI, the network and its log',
    );
  }
}

/** Judges by how many servers hold the data. */
export function judgeTopology(facts: Judged): Verdict {
  const { version, setName, isSharded, members, isEmbedded } = facts;
  if (isEmbedded) return ok('the embedded database serves; production needs a MongoDB replica set');
  if (isSharded) return ok(`MongoDB ${version}, a router of shards`);
  if (!setName)
    return warning(
      `MongoDB ${version} is a single server: what it acknowledges is lost with it, and its outage is ours`,
      'a replica set of three',
    );
  const down = members.filter(({ isUp }) => !isUp).map(({ name }) => name);
  if (down.length > 0)
    return warning(`MongoDB ${version}, ${setName}: ${down.join(', ')} is down`, 'start it: rs.status()');
  if (members.length < 3)
    return warning(
      `MongoDB ${version}, ${setName} has ${members.length} members with data: without one there is no majority`,
      'a replica set of three',
    );
  return ok(`MongoDB ${version}, replica set ${setName} of ${members.length}`);
}

/** Judges what an acknowledgement waits for. */
export function judgeWriteConcern({ writeConcern: { w, journal } }: MongoFacts): Verdict {
  const text = `writes wait for w=${w}${journal ? '' : ', but not for the journal'}`;
  const remedy = 'w=majority in MONGODB_URI, or no w at all';
  if (w === 0) return failure(`${text}: nothing is ever known to be stored`, remedy);
  if (w !== 'majority' || !journal) return warning(`${text}: a failover may lose acknowledged data`, remedy);
  return ok(text);
}

const isOlder = ({ schema }: Judged) => schema.prepared < SCHEMA_VERSION;

/** Judges whether this release can run on the data. */
export function judgeSchema(facts: Judged): Verdict {
  const { schema, isEmbedded } = facts;
  const remedy = 'docs/operations.md, "Migrations"';
  if (isEmbedded && isOlder(facts))
    return warning(
      `schema version ${schema.prepared}: the next start brings the data to ${SCHEMA_VERSION}, and the release before cannot read it then`,
      'copy DATA_DIR before, if you may have to go back',
    );
  try {
    requireState(schema);
  } catch (error) {
    return failure((error as Error).message, remedy);
  }
  if (schema.finished < SCHEMA_VERSION) return warning(UNFINISHED, remedy);
  return ok(`schema version ${schema.finished}`);
}

/** Judges by the indexes that are missing. */
export function judgeIndexes(facts: Judged): Verdict {
  const { isEmpty, isEmbedded, missingIndexes } = facts;
  if (isEmpty) return ok('the database is empty: the first start creates all indexes');
  if (missingIndexes.length === 0) return ok('all indexes are there');
  const text = `missing: ${missingIndexes.join('; ')}`;
  if (isOlder(facts))
    return warning(text, isEmbedded ? 'the next start builds them' : 'npm run migrate builds them');
  if (missingIndexes.some((name) => name.endsWith(' unique')))
    return failure(`${text}: no process starts while there are records`, 'npm run verify -- --repair');
  return warning(text, 'the next start builds them; on a large collection build them by hand before');
}

/** The database: topology, indexes, write concern. */
export function inspectDatabase(config: () => Config) {
  const facts = shared('the database cannot be read', async () => readFacts(config()));
  const checks: Check[] = [
    { name: 'database', run: async () => judgeTopology(await facts.read()) },
    { name: 'schema', run: async () => judgeSchema(await facts.given()) },
    { name: 'indexes', run: async () => judgeIndexes(await facts.given()) },
    { name: 'write concern', run: async () => judgeWriteConcern(await facts.given()) },
  ];
  return { checks, skewMs: async () => (await facts.given()).skewMs };
}
