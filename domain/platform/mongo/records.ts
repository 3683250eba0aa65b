import type { mongo } from 'mongoose';

/**
 * Reads records as they are stored, past mongoose: building and casting its query costs as much as all else
 * that a small read does here. For reads that everybody makes all the time; values must be of the schema's types,
 * as nothing is cast and no unknown field is refused.
 */
export function readRecords<T extends object>(
  model: { collection: unknown },
  filter: mongo.Filter<T>,
  options: mongo.FindOptions = {},
): Promise<T[]> {
  const collection = model.collection as mongo.Collection<T>;
  return collection.find<T>(filter, options).toArray();
}

/** The same for what stages make of records. */
export function aggregateRecords<T extends object>(
  model: { collection: unknown },
  stages: mongo.BSON.Document[],
  options: mongo.AggregateOptions = {},
): Promise<T[]> {
  return (model.collection as mongo.Collection).aggregate<T>(stages, options).toArray();
}

/** Changes one record, past mongoose as well. @returns the record as it is then; null where there is none */
export function changeRecord<T extends object>(
  model: { collection: unknown },
  filter: mongo.Filter<T>,
  change: mongo.UpdateFilter<T>,
): Promise<T | null> {
  const collection = model.collection as mongo.Collection<T>;
  return collection.findOneAndUpdate(filter, change, {
    returnDocument: 'after',
  }) as unknown as Promise<T | null>;
}
