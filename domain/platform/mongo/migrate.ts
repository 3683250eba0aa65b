import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { uniqueProcessName } from '../cluster/heartbeat.model.js';
import { withoutTimeLimit } from './connection.js';
import { ensureIndexes, missingIndexes, requireUniqueIndexes } from './indexes.js';
import { migrations, type Step } from './migrations.js';
import {
  createRecord,
  giveBack,
  readRecord,
  readState,
  refuseNewer,
  renew,
  requireState,
  SCHEMA_VERSION,
  type SchemaState,
  storeState,
  takeFrom,
} from './schema-version.js';

/** `prepare` keeps the release before running; `finish` ends that, and repeats what it wrote meanwhile. */
export type Extent = 'prepare' | 'finish';

/** Where a migration reports to. */
export interface MigrationReport {
  /** A result, or why it waits. */
  line(text: string): void;
  /** A step begins. @returns called with the number of records looked at; `end` when it is over */
  begin(total: number, what: string): { advance(by: number): void; end(): void };
}

export interface MigrateOptions {
  extent: Extent;
  report: MigrationReport;
  /** Reports what would be done, and writes nothing. */
  isDry?: boolean;
  /** Ends the work between two pages. */
  signal?: AbortSignal;
}

/** How often a holder shows that it lives, and how often one that waits looks, ms. */
const BEAT_MS = 500;

/** Looks without a sign of life after which the lease is taken over. No clock is compared: those of machines differ. */
const SILENT_LOOKS = 10;

/** Takes the lease, and waits for another process that holds it. */
async function takeLease(connection: Connection, { report, signal }: MigrateOptions): Promise<string> {
  const holder = uniqueProcessName();
  await createRecord(connection);
  let seen: string | undefined;
  let looks = 0;
  for (;;) {
    const lease = (await readRecord(connection))?.lease;
    const text = lease && `${lease.holder} ${lease.beat}`;
    looks = text === seen ? looks + 1 : 0;
    if (lease && seen === undefined)
      report.line(`${lease.holder.split(',')[0]} is migrating: waiting for it`);
    seen = text;
    const isFree = !lease || looks >= SILENT_LOOKS;
    if (isFree && (await takeFrom(connection, lease, holder))) return holder;
    await sleep(BEAT_MS, undefined, { signal });
  }
}

/** Does work under the lease. @param work gets a check that rejects once the lease is lost or the work is to end */
async function underLease<T>(
  connection: Connection,
  options: MigrateOptions,
  work: (holder: string, check: () => void) => Promise<T>,
): Promise<T> {
  const holder = await takeLease(connection, options);
  let isLost = false;
  const timer = setInterval(() => {
    renew(connection, holder).then(
      (isHeld) => {
        isLost = !isHeld;
      },
      // The database does not answer: the work fails by itself, or the next beat counts.
      () => {},
    );
  }, BEAT_MS);
  const check = () => {
    options.signal?.throwIfAborted();
    if (isLost) throw new Error('another process has taken over the migration: this one was silent too long');
  };
  try {
    return await work(holder, check);
  } finally {
    clearInterval(timer);
    // If the database does not answer, the lease runs out by itself.
    await giveBack(connection, holder).catch(() => {});
  }
}

async function runStep(
  connection: Connection,
  step: Step,
  { report, isDry = false }: MigrateOptions,
  check: () => void,
): Promise<void> {
  const progress = report.begin(await step.size(connection), step.what);
  let changed = 0;
  try {
    changed = await step.run(connection, {
      isDry,
      async onLooked(count) {
        progress.advance(count);
        check();
      },
    });
  } finally {
    progress.end();
  }
  report.line(`${changed}${isDry ? ' to do' : ''}: ${step.what}`);
}

/** The migrations' steps that are left, each followed by the state that it leads to. */
function* plan(
  { prepared, finished }: SchemaState,
  extent: Extent,
): Generator<{ steps: Step[]; after: SchemaState }> {
  const left = migrations.filter(({ version }) => version > finished);
  let state = { prepared, finished };
  for (const { version, convert, remove } of left) {
    const isFinished = extent === 'finish' || version < SCHEMA_VERSION;
    if (prepared < version || isFinished) {
      state = { ...state, prepared: Math.max(version, prepared) };
      yield { steps: convert, after: state };
    }
    if (!isFinished) continue;
    state = { ...state, finished: version };
    yield { steps: remove, after: state };
  }
}

/** Whether anything is left to do. */
const isDone = (state: SchemaState, extent: Extent) => plan(state, extent).next().done === true;

async function runDry(connection: Connection, state: SchemaState, options: MigrateOptions): Promise<void> {
  for (const index of await missingIndexes(connection)) options.report.line(`to build: index ${index}`);
  for (const { steps } of plan(state, options.extent))
    for (const step of steps) await runStep(connection, step, options, () => {});
}

/** Told while a release before can still run. */
export const UNFINISHED = `schema version ${SCHEMA_VERSION} is prepared, not finished: npm run migrate -- --finish once no process of the release before runs`;

/**
 * Builds missing indexes, then brings the data to this release's version, in one process at a time: others wait for
 * it. An interrupted migration continues with the next call.
 *
 * @param uri of the database that `connectMongo` connected to
 * @returns how far the data is
 * @throws Error when a newer release wrote the data
 */
export function migrate(uri: string, options: MigrateOptions): Promise<SchemaState> {
  return withoutTimeLimit(uri, (connection) => migrateOver(connection, options));
}

async function migrateOver(connection: Connection, options: MigrateOptions): Promise<SchemaState> {
  const { extent, report, isDry = false } = options;
  const before = await readState(connection, isDry);
  refuseNewer(before);
  if (isDry) {
    await runDry(connection, before, options);
    return before;
  }
  const missing = await missingIndexes(connection);
  if (isDone(before, extent) && missing.length === 0) return before;
  return underLease(connection, options, async (holder, check) => {
    let state = await readState(connection);
    refuseNewer(state);
    // In data of this version, a unique index that is missing was dropped: ensureIndexes refuses to build it.
    await ensureIndexes(connection, state.prepared < SCHEMA_VERSION);
    for (const index of missing) report.line(`built: index ${index}`);
    for (const { steps, after } of plan(state, extent)) {
      for (const step of steps) await runStep(connection, step, options, check);
      check();
      if (!(await storeState(connection, holder, after)))
        throw new Error('another process has taken over the migration');
      state = after;
    }
    return state;
  });
}

/** @throws Error when a process of this release would not start on the data; nothing is written */
export function requireSchema(uri: string): Promise<void> {
  return withoutTimeLimit(uri, async (connection) => requireState(await readState(connection, true)));
}

/**
 * For a command that only reads.
 * @throws Error when the data is of another version, or unique indexes are missing beside records; nothing is written
 */
export function requireReadable(uri: string): Promise<void> {
  return withoutTimeLimit(uri, async (connection) => {
    requireState(await readState(connection, true));
    await requireUniqueIndexes(connection);
  });
}

/** What a process may do about data of an older version: nothing, or that much of the migration. */
export type Bringing = 'nothing' | Extent;

/**
 * Makes the database fit for a process of this release: its version and its indexes.
 *
 * @param bringing `finish` only where no process of another release uses the database
 * @param say gets a line for the log
 * @param isRepair builds missing unique indexes, too
 * @throws Error when the data is of another version, or indexes are missing
 */
export function prepareDatabase(
  uri: string,
  bringing: Bringing,
  say: (text: string) => void,
  isRepair = false,
): Promise<void> {
  return withoutTimeLimit(uri, async (connection) => {
    const before = await readState(connection);
    refuseNewer(before);
    let state = before;
    if (bringing !== 'nothing' && !isDone(before, bringing)) {
      say(
        before.prepared < SCHEMA_VERSION
          ? `the database has schema version ${before.prepared}: bringing it to ${SCHEMA_VERSION}`
          : `the database is prepared for schema version ${SCHEMA_VERSION}: finishing the migration to it`,
      );
      const report = { line: say, begin: () => ({ advance() {}, end() {} }) };
      state = await migrateOver(connection, { extent: bringing, report });
    }
    requireState(state);
    if (state.finished < SCHEMA_VERSION) say(UNFINISHED);
    await ensureIndexes(connection, isRepair);
  });
}
