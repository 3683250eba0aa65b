import { createLatencies, encode, record } from '../latency.js';
import { messageRecord, openMessages } from '../messages.js';
import { atRate } from '../pacing.js';
import { nowMicros, stampedText } from '../stamp.js';
import { handleCommands, reportReady } from '../worker-process.js';

/** The bare driver: `driver-insert.js URI` inserts the service's records one by one at a given rate. */
const messages = await openMessages(process.argv[2] as string);
let sequence = 0;

export interface InsertCommand {
  /** Inserts per second. */
  rate: number;
  seconds: number;
  rooms: number;
  /** Characters of a message. */
  length: number;
}

export interface InsertResult {
  inserted: number;
  /** Encoded histogram. */
  times: string;
}

handleCommands(async ({ rooms, length, ...pace }: InsertCommand): Promise<InsertResult> => {
  const times = createLatencies();
  const inserts: Promise<void>[] = [];
  async function insert(): Promise<void> {
    sequence += 1;
    const sentAt = nowMicros();
    const [room, seq] = [1 + (sequence % rooms), Math.ceil(sequence / rooms)];
    await messages.insertOne(messageRecord(room, seq, stampedText(sequence, length), `k${sequence}`));
    record(times, nowMicros() - sentAt);
  }
  await atRate(pace, () => inserts.push(insert()));
  await Promise.all(inserts);
  return { inserted: inserts.length, times: encode(times) };
});
reportReady();
