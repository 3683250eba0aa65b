import type { Engine } from '../../src/commands/engine.js';
import {
  type Collection,
  identRange,
  RECORD_ID_BYTES,
  trailingRecordId,
} from '../../src/storage/collection.js';
import { indexKey } from '../../src/storage/index-spec.js';
import { decode } from '../../src/values/bson-types.js';

const ALL = Number.MAX_SAFE_INTEGER;

/** Everything that is wrong between a collection's documents and its index entries; an empty list is what one wants. */
export function indexFaults(engine: Engine, collection: Collection): string[] {
  const faults: string[] = [];
  const records = new Map(
    engine.storage
      .entries(identRange(collection.ident), ALL)
      .map(({ key, value }) => [trailingRecordId(key), decode(value)]),
  );
  for (const { spec, ident } of collection.indexes) {
    const wanted = new Set<string>();
    for (const [id, document] of records) {
      const key = indexKey(spec, document);
      if (key) wanted.add(`${key.toString('hex')} ${id}`);
    }
    const stored = engine.storage.entries(identRange(ident), ALL).map(({ key, value }) => {
      const end = spec.unique ? key.length : key.length - RECORD_ID_BYTES;
      const id = spec.unique ? value.readUIntBE(0, RECORD_ID_BYTES) : trailingRecordId(key);
      return `${key.subarray(4, end).toString('hex')} ${id}`;
    });
    for (const entry of stored)
      if (!wanted.delete(entry)) faults.push(`${spec.name}: entry without document: ${entry}`);
    for (const entry of wanted) faults.push(`${spec.name}: document without entry: ${entry}`);
  }
  return faults;
}
