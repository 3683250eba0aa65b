/**
 * The migrations. Rules (docs/decisions/migrations.md): a step finds what is left by itself and may be repeated,
 * interrupted, or run by two processes; it names collections and fields as they are in its version, not models,
 * which change later; and until `remove`, the release before can still read and write the data.
 */
import type { Connection } from 'mongoose';
import { listIndexes } from './indexes.js';

export interface StepRun {
  /** Counts only. */
  isDry: boolean;
  /** Called with the number of records looked at since the last call; rejects when the work must end. */
  onLooked(count: number): Promise<void>;
}

export interface Step {
  /** What it changes, of how many; in a log line after the number. */
  what: string;
  /** Approximate number of records to look at. */
  size(connection: Connection): Promise<number>;
  /** @returns the number of records or indexes that it changed, or would change */
  run(connection: Connection, run: StepRun): Promise<number>;
}

export interface Migration {
  version: number;
  /** Brings records into a form that both releases read. */
  convert: Step[];
  /** Removes what only the release before needs. */
  remove: Step[];
}

/** Records per read and write. */
const PAGE = 500;

/** Converts records one by one. */
function convertRecords<T extends { _id: number }>(
  what: string,
  collection: string,
  fields: (keyof T & string)[],
  /** The condition under which a record still needs the change, and the change; undefined if it does not. */
  convert: (record: T) => { filter: object; change: object } | undefined,
): Step {
  const projection = Object.fromEntries(fields.map((field) => [field, 1]));
  const collectionOf = (connection: Connection) =>
    connection.getClient().db().collection<{ _id: number }>(collection);
  return {
    what,
    size: (connection) => collectionOf(connection).estimatedDocumentCount(),
    async run(connection, { isDry, onLooked }) {
      let changed = 0;
      for (let after = Number.MIN_SAFE_INTEGER; ; ) {
        const page = await collectionOf(connection)
          .find<T>({ _id: { $gt: after } }, { projection, sort: { _id: 1 }, limit: PAGE })
          .toArray();
        const last = page.at(-1);
        if (!last) return changed;
        const writes = page.flatMap((record) => {
          const needed = convert(record);
          if (!needed) return [];
          return [{ updateOne: { filter: { _id: record._id, ...needed.filter }, update: needed.change } }];
        });
        if (isDry) changed += writes.length;
        else if (writes.length > 0)
          changed += (await collectionOf(connection).bulkWrite(writes, { ordered: false })).modifiedCount;
        after = last._id;
        await onLooked(page.length);
      }
    },
  };
}

/** Drops indexes by their keys. */
function dropIndexes(what: string, retired: { collection: string; key: Record<string, 1 | -1> }[]): Step {
  return {
    what,
    size: async () => retired.length,
    async run(connection, { isDry, onLooked }) {
      let dropped = 0;
      for (const { collection, key } of retired) {
        const text = JSON.stringify(Object.entries(key));
        const listed = await listIndexes(connection, collection);
        const found = listed.find((index) => JSON.stringify(Object.entries(index.key)) === text);
        if (found) {
          if (!isDry) await connection.collection(collection).dropIndex(`${found.name}`);
          dropped += 1;
        }
        await onLooked(1);
      }
      return dropped;
    },
  };
}

/** All of them, oldest first; the last one's version is SCHEMA_VERSION. */
export const migrations: Migration[] = [
  {
    version: 1,
    convert: [
      convertRecords<{ _id: number; url?: string }>(
        'notifications get a path that begins with a slash',
        'notifications',
        ['url'],
        ({ url = '' }) =>
          url.startsWith('/') ? undefined : { filter: { url }, change: { $set: { url: `/${url}` } } },
      ),
    ],
    remove: [
      dropIndexes('indexes that no query uses any more are dropped', [
        { collection: 'articles', key: { state: 1, authorNo: 1, _id: -1 } },
        { collection: 'hearts', key: { target: 1, id: 1, on: 1 } },
      ]),
    ],
  },
];
