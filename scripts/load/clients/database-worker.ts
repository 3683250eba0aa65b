import { openMessages } from '../driver.js';
import { createLatencies, encode, record } from '../latency.js';
import type { WorkResult } from '../measure.js';
import { sampleRecord } from '../messages.js';
import { atRate, repeat } from '../pacing.js';
import { nowMicros } from '../stamp.js';
import { handleCommands, reportReady } from '../worker-process.js';

/** A client of a database through the driver: `database-worker.js URI DOCUMENTS ROOMS`. */
const [uri = '', documents, rooms] = process.argv.slice(2);
const messages = await openMessages(uri);
const roomCount = Number(rooms);
let sequence = Number(documents);
let found = 0;

export interface DatabaseCommand {
  work: 'find' | 'insert';
  seconds: number;
  /** Operations at the same time; or, with `rate`, per second. */
  inFlight?: number;
  rate?: number;
  /** Characters of an inserted message. */
  length?: number;
}

async function find(): Promise<void> {
  found += 1;
  const chatNo = (found * 7) % roomCount;
  const query = messages.find({ chatNo, seq: { $gt: 0 } });
  const records = await query.sort({ seq: 1 }).limit(50).toArray();
  if (records.length === 0) throw new Error(`room ${chatNo} is empty`);
}

async function insert(length: number | undefined): Promise<void> {
  sequence += 1;
  await messages.insertOne(sampleRecord(sequence, roomCount, length));
}

async function handle({ work, seconds, inFlight = 1, rate, length }: DatabaseCommand): Promise<WorkResult> {
  const times = createLatencies();
  const late = createLatencies();
  /** @param dueAt µs, of `nowMicros` */
  async function operate(dueAt = nowMicros()): Promise<void> {
    record(late, nowMicros() - dueAt);
    await (work === 'find' ? find() : insert(length));
    record(times, nowMicros() - dueAt);
  }
  if (rate === undefined) await repeat({ inFlight, seconds }, operate);
  else {
    const started: Promise<void>[] = [];
    await atRate({ rate, seconds }, (dueAt) => started.push(operate(dueAt)));
    await Promise.all(started);
  }
  return { operations: times.totalCount, times: encode(times), late: encode(late) };
}

handleCommands(handle);
reportReady();
