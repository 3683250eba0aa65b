import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import type { OwnInstallation } from '../own-installation.js';

/** Longest time, ms, for which a write waits for a database that does not answer, and the pause before the next. */
const ANSWER_MS = 5_000;
const PROBE_PAUSE_MS = 50;

/** Longest time, ms, until the database stores again, as for the start of a process (READY_WITHIN_MS). */
const WITHIN_MS = 60_000;

type Database = OwnInstallation['database'];

const run = promisify(execFile);

/**
 * Limits the size of the files that a process may write, as a full disk does.
 * @param bytes 0: it can write nothing
 * @returns false if there is no such process any more
 * @throws Error that tells what prlimit said
 */
export async function limitFiles(pid: number, bytes: number | 'unlimited'): Promise<boolean> {
  try {
    await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
    return true;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    if (stderr.includes('No such process')) return false;
    throw new Error(
      `the files of process ${pid} could not be limited to ${bytes}: ${stderr.trim() || message}`,
    );
  }
}

/**
 * Writes a record that every probe changes: while the disk is full, there may be no room for a new collection, although there
 * is for what clients send. By a client of its own: one whose server was away has been seen to wait without end.
 * @returns why it is not stored
 */
async function probe(uri: string): Promise<string | undefined> {
  const within = { serverSelectionTimeoutMS: ANSWER_MS, socketTimeoutMS: ANSWER_MS };
  const client = new MongoClient(uri, { ...within, retryWrites: false });
  const stored = client
    .db('probe')
    .collection<{ _id: string; writes: number }>('probes')
    .updateOne({ _id: 'disk-full' }, { $inc: { writes: 1 } }, { upsert: true })
    .then(
      () => undefined,
      (error: Error) => error.message,
    );
  const failure = await Promise.race([stored, sleep(2 * ANSWER_MS, 'no answer')]);
  void client.close().catch(() => {});
  return failure;
}

/**
 * Waits until the database stores.
 * @returns true once it has; false if it has ended
 * @throws Error with the last failure if it does neither in time
 */
export async function untilStored(
  database: Pick<Database, 'running' | 'uri'>,
  withinMs = WITHIN_MS,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (database.running) {
    // Commits are made one after another: once this one is stored, none that failed is left.
    const failure = await probe(database.uri);
    if (failure === undefined) return true;
    if (performance.now() > deadline)
      throw new Error(`the database runs, but stores nothing for ${withinMs / 1_000} s: ${failure}`);
    await sleep(PROBE_PAUSE_MS);
  }
  return false;
}

/**
 * The database's file may not grow for a while, or nothing of it may be written. A database that ends by it, as it does where a
 * root page is what could not be written, is started again, as by `npm start`.
 * @param isAtOnce nothing may be written, instead of no more than there is
 * @param work what happens meanwhile
 */
export async function fillDisk(
  database: Database,
  isAtOnce: boolean,
  work: () => Promise<void>,
): Promise<void> {
  // The collection of the probe exists then.
  await untilStored(database);
  await limitFiles(database.pid, isAtOnce ? 0 : statSync(database.file).size);
  await work();
  await limitFiles(database.pid, 'unlimited');
  if (!(await untilStored(database))) await database.start();
}
