import { Batcher } from '../platform/async/batcher.js';
import { insertEach } from '../platform/mongo/inserts.js';
import type { MessageStages } from '../platform/observe/message-stages.js';
import { Message, type MessageRecord } from './message.model.js';

/** Most records in an insert shared by rooms: past some hundreds the cost per record falls no further. */
const MAX_SHARED = 500;

interface SharedInsert {
  record: MessageRecord;
  stages?: MessageStages | undefined;
}

/** Stores single messages of different rooms together; two inserts at a time keep the database busy. */
export function createSharedInserts(): Batcher<SharedInsert, boolean> {
  async function insert(items: SharedInsert[]): Promise<(boolean | Error)[]> {
    for (const { stages } of items) stages?.end('queue');
    return insertEach(
      Message,
      items.map(({ record }) => record),
    );
  }
  return new Batcher(insert, { size: MAX_SHARED, concurrency: 2 });
}
