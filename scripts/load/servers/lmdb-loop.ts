import { setTimeout as sleep } from 'node:timers/promises';
import { BSON } from 'bson';
import { open } from 'lmdb';
import { storedMessage } from './grouped-store.js';

/**
 * The limit of durable storage: lmdb alone, with documents as BSON under a key of (room, seq), no indexes,
 * no protocol. `lmdb-loop.js FOLDER DOCUMENTS ROOMS`; told `{work, seconds, inFlight}` it does that for so
 * long and tells how often.
 */
const [folder = '', documents, rooms] = process.argv.slice(2);
const store = open<Buffer, Buffer>({ path: folder, keyEncoding: 'binary', encoding: 'binary' });
const roomCount = Number(rooms);
let sequence = Number(documents);

function keyOf(room: number, seq: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeUInt32BE(room, 0);
  key.writeUInt32BE(seq, 4);
  return key;
}

function put(i: number): Promise<boolean> {
  const [room, seq] = [i % roomCount, Math.floor(i / roomCount) + 1];
  const record = storedMessage(room, seq, 'the quick brown fox jumps over the lazy dog '.repeat(3), `k${i}`);
  return store.put(keyOf(room, seq), Buffer.from(BSON.serialize(record)));
}

async function find(until: number): Promise<number> {
  let count = 0;
  while (performance.now() < until) {
    for (let i = 0; i < 100; i += 1) {
      const room = (count * 7) % roomCount;
      let bytes = 0;
      for (const { value } of store.getRange({ start: keyOf(room, 0), limit: 50 })) bytes += value.length;
      if (bytes === 0) throw new Error(`room ${room} is empty`);
      count += 1;
    }
    await sleep(0);
  }
  return count;
}

async function insert(until: number, inFlight: number): Promise<number> {
  let count = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < until) {
        sequence += 1;
        await put(sequence);
        count += 1;
      }
    }),
  );
  return count;
}

for (let i = 0; i < sequence; i += 1) {
  const done = put(i);
  if (i % 5_000 === 4_999) await done;
}
await store.flushed;

process.on('message', ({ work, seconds, inFlight }: { work: string; seconds: number; inFlight: number }) => {
  const until = performance.now() + seconds * 1_000;
  const started = performance.now();
  void (work === 'find' ? find(until) : insert(until, inFlight)).then((operations) =>
    process.send?.({ operations, seconds: (performance.now() - started) / 1_000 }),
  );
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.({ port: 0 });
