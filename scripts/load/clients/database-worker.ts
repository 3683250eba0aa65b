import { createLatencies, encode, record } from '../latency.js';
import { messageRecord, openMessages, SAMPLE_TEXT } from '../messages.js';
import { repeat } from '../pacing.js';
import { nowMicros } from '../stamp.js';
import { handleCommands, reportReady } from '../worker-process.js';

/** A client of a database through the driver: `database-worker.js URI DOCUMENTS ROOMS`. */
const [uri = '', documents, rooms] = process.argv.slice(2);
const messages = await openMessages(uri);
const roomCount = Number(rooms);
let sequence = Number(documents);
let found = 0;

async function find(): Promise<void> {
  found += 1;
  const chatNo = (found * 7) % roomCount;
  const query = messages.find({ chatNo, seq: { $gt: 0 } });
  const records = await query.sort({ seq: 1 }).limit(50).toArray();
  if (records.length === 0) throw new Error(`room ${chatNo} is empty`);
}

async function insert(): Promise<void> {
  sequence += 1;
  const [room, seq] = [sequence % roomCount, Math.floor(sequence / roomCount) + 1];
  await messages.insertOne(messageRecord(room, seq, SAMPLE_TEXT, `k${sequence}`));
}

/** `inFlight` operations at a time. */
export interface DatabaseCommand {
  work: 'find' | 'insert';
  seconds: number;
  inFlight: number;
}

export interface DatabaseResult {
  operations: number;
  seconds: number;
  /** Encoded histogram. */
  times?: string;
}

handleCommands(async ({ work, ...duration }: DatabaseCommand): Promise<DatabaseResult> => {
  const times = createLatencies();
  const operation = work === 'find' ? find : insert;
  const done = await repeat(duration, async () => {
    const startedAt = nowMicros();
    await operation();
    record(times, nowMicros() - startedAt);
  });
  return { ...done, times: encode(times) };
});
reportReady();
