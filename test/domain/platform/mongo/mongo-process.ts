import { once } from 'node:events';
import { startEmbeddedMongo } from 'embedded-mongo/server';
import mongoose from 'mongoose';
import { Room } from '../../../../domain/chat/room.model.js';
import {
  connectMongo,
  disconnectMongo,
  pingMongo,
  withoutTimeLimit,
} from '../../../../domain/platform/mongo/connection.js';
import { ensureIndexes } from '../../../../domain/platform/mongo/indexes.js';
import { aggregateRecords, readRecords } from '../../../../domain/platform/mongo/records.js';
import { toAppError } from '../../../../domain/platform/process/failures.js';

/** What a process does with its database, for test/domain/platform/mongo/connection.test.ts: `indexes`, `ping`, `reads`, or `lost` with one of its own. */
const [, , task, given = '', operationMs] = process.argv;
const own =
  task === 'lost' ? await startEmbeddedMongo({ storage: 'memory', database: 'adoption' }) : undefined;
const uri = own?.uri ?? given;

const nameOf = (error: Error) => error.name;

await connectMongo(uri, Number(operationMs));
if (task === 'indexes') {
  process.stdout.write(
    `${await withoutTimeLimit(uri, (over) => ensureIndexes(over)).then(() => 'indexes stand', String)}\n`,
  );
  const open = mongoose.connections.filter(({ readyState }) => readyState !== 0);
  process.stdout.write(`${open.length} connection\n`);
  const outcome = await Room.findOne({})
    .lean()
    .then(() => 'found', nameOf);
  process.stdout.write(`${outcome}\n`);
} else if (task === 'ping') {
  process.stdout.write(`${await pingMongo().then(() => 'answered', String)}\n`);
} else if (own) {
  const lost = once(mongoose.connection, 'disconnected');
  await own.close();
  await lost;
  const outcome = await Room.createCollection().then(
    () => 'created',
    (error) => toAppError(error).code,
  );
  process.stdout.write(`${outcome}\n`);
} else {
  await Room.findOne({ saleNo: 1 }).lean();
  await Room.countDocuments({ saleNo: 2 });
  await readRecords(Room, { saleNo: 3 });
  await aggregateRecords(Room, [{ $match: { saleNo: 4 } }]);
  await Room.create({ _id: 1, saleNo: 5, creator: 1, joiner: 2, createdAt: new Date() });
}
await disconnectMongo();
if (task === 'indexes') {
  process.stdout.write(
    `${await Room.findOne({}).then(
      () => 'found',
      (error) => toAppError(error).code,
    )}\n`,
  );
}
