import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import type { OwnInstallation } from '../own-installation.js';

/** Longest time, ms, for which a write waits for a database that does not answer, and the pause before the next. */
const ANSWER_MS = 5_000;
const PROBE_PAUSE_MS = 50;

/** Longest time, ms, until the database stores again, as for the start of a process (READY_WITHIN_MS). */
const WITHIN_MS = 60_000;

/** Whether a write is stored. By a client of its own: one whose server was away has been seen to wait without end. */
async function isStored(uri: string): Promise<boolean> {
  const within = { serverSelectionTimeoutMS: ANSWER_MS, socketTimeoutMS: ANSWER_MS };
  const client = new MongoClient(uri, { ...within, retryWrites: false });
  const stored = client
    .db('probe')
    .collection('probes')
    .insertOne({})
    .then(
      () => true,
      () => false,
    );
  const answer = await Promise.race([stored, sleep(2 * ANSWER_MS, false)]);
  void client.close().catch(() => {});
  return answer;
}

/**
 * Waits until the database goes on after writes have failed.
 * @returns true once it has stored another; false if it has ended
 * @throws Error if it does neither in time
 */
export async function storesAgain(
  database: Pick<OwnInstallation['database'], 'running' | 'uri'>,
  withinMs = WITHIN_MS,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (database.running) {
    // Commits are made one after another: once this one is stored, none that failed is left.
    if (await isStored(database.uri)) return true;
    if (performance.now() > deadline)
      throw new Error(`the database runs, but has stored nothing for ${withinMs / 1_000} s after disk-full`);
    await sleep(PROBE_PAUSE_MS);
  }
  return false;
}
