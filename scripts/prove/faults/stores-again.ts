import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import type { OwnInstallation } from '../own-installation.js';

/** Longest time, ms, for which a write waits for a database that does not answer, and the pause before the next. */
const ANSWER_MS = 1_000;
const PROBE_PAUSE_MS = 50;

/** Longest time, ms, until the database stores again, as for the start of a process (READY_WITHIN_MS). */
const WITHIN_MS = 60_000;

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
  const within = { serverSelectionTimeoutMS: ANSWER_MS, socketTimeoutMS: ANSWER_MS };
  const client = new MongoClient(database.uri, { ...within, retryWrites: false });
  const probes = client.db('probe').collection('probes');
  try {
    while (database.running) {
      // Commits are made one after another: once this one is stored, none that failed is left.
      const isStored = await probes.insertOne({}).then(
        () => true,
        () => false,
      );
      if (isStored) return true;
      if (performance.now() > deadline)
        throw new Error(
          `the database runs, but has stored nothing for ${withinMs / 1_000} s after disk-full`,
        );
      await sleep(PROBE_PAUSE_MS);
    }
    return false;
  } finally {
    await client.close();
  }
}
