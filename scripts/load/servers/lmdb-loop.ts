import { setTimeout as sleep } from 'node:timers/promises';
import { BSON } from 'bson';
import { open } from 'lmdb';
import type { DatabaseCommand } from '../clients/database-worker.js';
import type { WorkResult } from '../measure.js';
import { sampleRecord } from '../messages.js';
import { repeat } from '../pacing.js';
import { handleCommands, reportReady } from '../worker-process.js';

/**
 * The limit of durable storage: lmdb with documents as BSON under a key of (room, seq), no indexes, no protocol.
 * `lmdb-loop.js FOLDER DOCUMENTS ROOMS`.
 */
const [folder = '', documents, rooms] = process.argv.slice(2);
const store = open<Buffer, Buffer>({ path: folder, keyEncoding: 'binary', encoding: 'binary' });
const roomCount = Number(rooms);
let sequence = 0;
let found = 0;

/** Reads are synchronous: after this many the loop yields to the event loop. */
const READS_PER_TURN = 100;

function keyOf(room: number, seq: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeUInt32BE(room, 0);
  key.writeUInt32BE(seq, 4);
  return key;
}

function insert(): Promise<boolean> {
  const record = sampleRecord(sequence, roomCount);
  sequence += 1;
  return store.put(keyOf(record.chatNo, record.seq), Buffer.from(BSON.serialize(record)));
}

async function find(): Promise<void> {
  const room = (found * 7) % roomCount;
  let bytes = 0;
  for (const { value } of store.getRange({ start: keyOf(room, 0), limit: 50 })) bytes += value.length;
  if (bytes === 0) throw new Error(`room ${room} is empty`);
  found += 1;
  if (found % READS_PER_TURN === 0) await sleep(0);
}

while (sequence < Number(documents)) {
  const inserted = insert();
  if (sequence % 5_000 === 0) await inserted;
}
await store.flushed;

handleCommands(async ({ work, seconds, inFlight = 1 }: DatabaseCommand): Promise<WorkResult> => {
  const operations = await (work === 'find'
    ? repeat({ inFlight: 1, seconds }, find)
    : repeat({ inFlight, seconds }, insert));
  return { operations };
});
reportReady();
