import { Batcher } from '../platform/batcher.js';
import { insertEach } from '../platform/mongo/inserts.js';
import { Message, type MessageRecord } from './message.model.js';

/** Most records in one insert: past some hundreds the cost per record falls no further. */
const MAX_GROUP = 500;

/** Concurrent inserts: with one, the database would idle while the next is prepared. */
const MAX_IN_FLIGHT = 2;

/**
 * Stores records of different rooms that wait at the same moment by one unordered insert.
 *
 * @returns a function that stores a record and resolves, once the database has acknowledged it, to
 *   whether it is stored: otherwise a unique index refused it
 */
export function createGroupedInserts(): (record: MessageRecord) => Promise<boolean> {
  const inserts = new Batcher<MessageRecord, boolean>((records) => insertEach(Message, records), {
    size: MAX_GROUP,
    concurrency: MAX_IN_FLIGHT,
  });
  return (record) => inserts.add(record);
}
