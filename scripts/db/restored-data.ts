import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { SCHEMA_COLLECTION, SCHEMA_ID } from '../../domain/platform/mongo/schema-version.js';

/** What a restore does about the version of the data: it is the dump's, and data without one is older than version 1. */
export const aboutVersion = {
  about: SCHEMA_COLLECTION,
  /** Processes that run look for it (data-clock.ts): last, as from then on they rely on what they read. */
  onRestored: (db: Db) =>
    db
      .collection<{ _id: string }>(SCHEMA_COLLECTION)
      .updateOne({ _id: SCHEMA_ID }, { $set: { generation: randomUUID() } }),
};
