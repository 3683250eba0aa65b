import { setTimeout as sleep } from 'node:timers/promises';
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { createLatencies, note } from '../latency.js';
import { nowMicros, stampedText } from '../stamp.js';
import { openMessages, storedMessage } from './grouped-store.js';

/**
 * The bare driver: `driver-insert.js URI` inserts the service's documents one by one at a given rate,
 * whatever becomes of them, and tells how long each took to be acknowledged.
 */
const messages = await openMessages(process.argv[2] as string);
let sequence = 0;

async function run({ rate, seconds, rooms }: { rate: number; seconds: number; rooms: number }) {
  const times = createLatencies();
  const total = Math.round(rate * seconds);
  const start = performance.now();
  const inserts: Promise<void>[] = [];
  async function insert(): Promise<void> {
    sequence += 1;
    const sentAt = nowMicros();
    const seq = Math.ceil(sequence / rooms);
    await messages.insertOne(
      storedMessage(1 + (sequence % rooms), seq, stampedText(sequence, 100), `k${sequence}`),
    );
    note(times, nowMicros() - sentAt);
  }
  while (inserts.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1_000) * rate) + 1);
    while (inserts.length < due) inserts.push(insert());
    await sleep(Math.max(0, start + (inserts.length / rate) * 1_000 - performance.now()));
  }
  await Promise.all(inserts);
  return { inserted: total, times: encodeIntoCompressedBase64(times) };
}

process.on('message', (command: { rate: number; seconds: number; rooms: number }) => {
  run(command).then(
    (done) => process.send?.(done),
    (error: Error) => process.send?.({ inserted: 0, error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.({ port: 0 });
