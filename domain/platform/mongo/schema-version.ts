import type { Connection } from 'mongoose';

/** The version of stored data that this release reads and writes. Raised with a migration (migrations.ts). */
export const SCHEMA_VERSION = 1;

/** The collection of the one record. `npm run db -- restore` replaces it by the dump's. */
export const SCHEMA_COLLECTION = 'schema';

/** The identifier of the record; it also holds the clock of the data (data-clock.ts). */
export const SCHEMA_ID = 'schema';

/**
 * How far the data is, in versions; data of releases before version 1 has no record and counts as 0. A release of
 * version N runs while `prepared` is at least N and `finished` at most N.
 */
export interface SchemaState {
  /** Its release can run on the data, beside the release before. */
  prepared: number;
  /** The release before can no longer. */
  finished: number;
}

/** Held by the one process that migrates. */
export interface Lease {
  holder: string;
  /** Rises while its holder lives. */
  beat: number;
}

export type SchemaRecord = SchemaState & { _id: string; lease?: Lease };

/** The collection with the record, by the connection of `connectMongo` or one of its own. */
const schemaOf = (connection: Connection) =>
  connection.getClient().db().collection<SchemaRecord>(SCHEMA_COLLECTION);

const ofNobody = { prepared: 0, finished: 0 };

/** The record as stored. @throws Error when it is damaged */
export async function readRecord(connection: Connection): Promise<SchemaRecord | undefined> {
  const record = (await schemaOf(connection).findOne({ _id: SCHEMA_ID })) ?? undefined;
  if (record && !(Number.isInteger(record.prepared) && Number.isInteger(record.finished)))
    throw new Error(`the record of the collection ${SCHEMA_COLLECTION} is damaged: prepared, finished`);
  return record;
}

/** Whether no collection has a record. */
async function isEmpty(connection: Connection): Promise<boolean> {
  for (const { name } of await connection.listCollections()) {
    if (name.startsWith('system.')) continue;
    const collection = connection.getClient().db().collection(name);
    // In the order of _id, which has an index: monitoring counts a collection scan even of one document.
    if (await collection.findOne({}, { projection: { _id: 1 }, sort: { _id: 1 } })) return false;
  }
  return true;
}

/** Stores a state if there is no record. */
async function create(connection: Connection, state: SchemaState): Promise<void> {
  await schemaOf(connection).updateOne({ _id: SCHEMA_ID }, { $setOnInsert: state }, { upsert: true });
}

/** Creates the record of data without one, which a lease needs. */
export const createRecord = (connection: Connection): Promise<void> => create(connection, ofNobody);

/**
 * How far the data is; an empty database is of this release's version.
 * @param isDry reads only
 */
export async function readState(connection: Connection, isDry = false): Promise<SchemaState> {
  let record = await readRecord(connection);
  if (!record && (await isEmpty(connection))) {
    const current = { prepared: SCHEMA_VERSION, finished: SCHEMA_VERSION };
    if (isDry) return current;
    await create(connection, current);
  }
  // Another process of this release may have created the record and written data since.
  record ??= await readRecord(connection);
  return record ?? ofNobody;
}

/** Stores how far the data is. @returns whether the holder still has the lease */
export async function storeState(
  connection: Connection,
  holder: string,
  state: Partial<SchemaState>,
): Promise<boolean> {
  const filter = { _id: SCHEMA_ID, 'lease.holder': holder };
  return (await schemaOf(connection).updateOne(filter, { $set: state })).matchedCount === 1;
}

/** Takes the lease, if the record has this one or none. @returns whether it is taken */
export async function takeFrom(
  connection: Connection,
  before: Lease | undefined,
  holder: string,
): Promise<boolean> {
  const free = before
    ? { 'lease.holder': before.holder, 'lease.beat': before.beat }
    : { lease: { $exists: false } };
  const lease = { holder, beat: 0 };
  return (
    (await schemaOf(connection).updateOne({ _id: SCHEMA_ID, ...free }, { $set: { lease } })).matchedCount ===
    1
  );
}

/** Shows that the holder lives. @returns whether it still has the lease */
export async function renew(connection: Connection, holder: string): Promise<boolean> {
  const filter = { _id: SCHEMA_ID, 'lease.holder': holder };
  return (await schemaOf(connection).updateOne(filter, { $inc: { 'lease.beat': 1 } })).matchedCount === 1;
}

/** Gives the lease back. */
export async function giveBack(connection: Connection, holder: string): Promise<void> {
  await schemaOf(connection).updateOne({ _id: SCHEMA_ID, 'lease.holder': holder }, { $unset: { lease: '' } });
}

/** @throws Error when a newer release has finished its migration: what it wrote cannot be read here */
export function refuseNewer({ finished }: SchemaState): void {
  if (finished <= SCHEMA_VERSION) return;
  throw new Error(
    `the database has schema version ${finished}, written by a newer release; this one knows versions up to ${SCHEMA_VERSION}: start the newer one, or restore a backup from before it`,
  );
}

/** @throws Error when a process of this release cannot run on the data */
export function requireState(state: SchemaState): void {
  refuseNewer(state);
  if (state.prepared >= SCHEMA_VERSION) return;
  throw new Error(
    `the database has schema version ${state.prepared}, this release needs ${SCHEMA_VERSION}: npm run migrate (processes of the release before may go on running)`,
  );
}
