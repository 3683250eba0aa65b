import { Room } from '../../domain/chat/rooms/room.model.js';
import {
  aggregateRecords,
  connectMongo,
  disconnectMongo,
  ensureIndexes,
  readRecords,
} from '../../domain/platform/mongo.js';

/** What a process does with its database, for test/platform/mongo.test.ts: `indexes` or `reads`. */
const [, , task, uri = '', operationMs] = process.argv;

await connectMongo(uri, Number(operationMs));
if (task === 'indexes') {
  await ensureIndexes(uri);
  process.stdout.write('indexes stand\n');
  const outcome = await Room.findOne({})
    .lean()
    .then(
      () => 'found',
      (error: Error) => error.name,
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
