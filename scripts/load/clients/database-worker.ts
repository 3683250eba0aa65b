import { encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { createLatencies, note } from '../latency.js';
import { openMessages, storedMessage } from '../servers/grouped-store.js';
import { nowMicros } from '../stamp.js';

/** A client of a database through the driver: `database-worker.js URI DOCUMENTS ROOMS`. */
const [uri = '', documents, rooms] = process.argv.slice(2);
const messages = await openMessages(uri);
const roomCount = Number(rooms);
let sequence = Number(documents);
let found = 0;

async function find(): Promise<void> {
  found += 1;
  const chatNo = (found * 7) % roomCount;
  const records = await messages
    .find({ chatNo, seq: { $gt: 0 } })
    .sort({ seq: 1 })
    .limit(50)
    .toArray();
  if (records.length === 0) throw new Error(`room ${chatNo} is empty`);
}

async function insert(): Promise<void> {
  sequence += 1;
  const [room, seq] = [sequence % roomCount, Math.floor(sequence / roomCount) + 1];
  const text = 'the quick brown fox jumps over the lazy dog '.repeat(3);
  await messages.insertOne(storedMessage(room, seq, text, `k${sequence}`));
}

interface Command {
  work: 'find' | 'insert';
  seconds: number;
  inFlight: number;
}

async function run({ work, seconds, inFlight }: Command) {
  const times = createLatencies();
  const operation = work === 'find' ? find : insert;
  const started = performance.now();
  let operations = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() - started < seconds * 1_000) {
        const at = nowMicros();
        await operation();
        note(times, nowMicros() - at);
        operations += 1;
      }
    }),
  );
  return {
    operations,
    seconds: (performance.now() - started) / 1_000,
    times: encodeIntoCompressedBase64(times),
  };
}

process.on('message', (command: Command) => {
  run(command).then(
    (done) => process.send?.(done),
    (error: Error) => process.send?.({ operations: 0, error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.('ready');
