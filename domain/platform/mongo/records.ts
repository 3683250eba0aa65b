import type { mongo } from 'mongoose';
import { QUERY_MS } from './query-time.js';

/**
 * Reads records bypassing mongoose, whose query building and casting are half the cost of a small read. Only
 * in `*.model.ts`. Values must have the schema's types: nothing is cast, and unknown
 * fields are not refused.
 */
export function readRecords<T extends object>(
  model: { collection: unknown },
  filter: mongo.Filter<T>,
  options: mongo.FindOptions = {},
): Promise<T[]> {
  const collection = model.collection as mongo.Collection<T>;
  return collection.find<T>(filter, { maxTimeMS: QUERY_MS, ...options }).toArray();
}

/** An aggregation, bypassing mongoose. */
export function aggregateRecords<T extends object>(
  model: { collection: unknown },
  stages: mongo.BSON.Document[],
  options: mongo.AggregateOptions = {},
): Promise<T[]> {
  return (model.collection as mongo.Collection)
    .aggregate<T>(stages, { maxTimeMS: QUERY_MS, ...options })
    .toArray();
}

/** Changes a record, bypassing mongoose. @returns the changed record, or null */
export function changeRecord<T extends object>(
  model: { collection: unknown },
  filter: mongo.Filter<T>,
  change: mongo.UpdateFilter<T>,
): Promise<T | null> {
  const collection = model.collection as mongo.Collection<T>;
  return collection.findOneAndUpdate(filter, change, {
    returnDocument: 'after',
    maxTimeMS: QUERY_MS,
  }) as unknown as Promise<T | null>;
}
