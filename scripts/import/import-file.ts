import type { Domain } from '../../domain/domain.js';
import { HIGHEST_ASSIGNED } from '../../domain/platform/mongo/sequence.model.js';
import { createProgress } from '../command/progress.js';
import { readCsv } from './read-csv.js';
import { readJsonArray } from './read-json.js';
import { readNdjson } from './read-ndjson.js';
import { checkRow } from './row.schema.js';
import { type Format, type Row, readText } from './source.js';
import { type CheckedRow, identityOf, type Outcome, storeRows } from './store-rows.js';

/** Rows stored together: larger batches do not lower the cost of a row. */
const BATCH = 500;

const READERS: Record<Format, (pieces: AsyncIterable<string>) => AsyncGenerator<Row>> = {
  json: readJsonArray,
  ndjson: readNdjson,
  csv: readCsv,
};

type Counts = Record<Outcome, number>;

/** Replaces control characters, which would move a terminal's cursor. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not reach a terminal
  return text.replace(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g, '\uFFFD');
}

function summary(counts: Record<'member' | 'adoption', Counts>, rejected: number): string {
  const row = (name: string, { created, updated, unchanged }: Counts) =>
    `${name.padEnd(15)} ${created} created, ${updated} updated, ${unchanged} unchanged`;
  return [
    row('members', counts.member),
    row('adoption posts', counts.adoption),
    `${'rejected'.padEnd(15)} ${rejected}`,
  ].join('\n');
}

/**
 * The highest id of a post in the file that might be assigned to another, 0 for none. Posts without an id get higher
 * numbers: otherwise one of them might get the id of a later row.
 */
async function highestNumber(rows: AsyncIterable<Row>): Promise<number> {
  let highest = 0;
  for await (const raw of rows) {
    const checked = 'fault' in raw ? undefined : checkRow(raw.value);
    if (!checked || 'faults' in checked || checked.row.record !== 'adoption') continue;
    const { id = 0 } = checked.row;
    if (id <= HIGHEST_ASSIGNED) highest = Math.max(highest, id);
  }
  return highest;
}

/**
 * Imports a file in batches, so that memory does not grow with it. Each row is stored by one write or not at all;
 * an interrupted import is completed by repeating it.
 *
 * @returns the exit status: 0 when every row was stored, 1 when some were rejected
 */
export async function importFile(
  domain: Domain,
  path: string,
  { size, format }: { size: number; format: Format },
): Promise<number> {
  // The file is read twice: for its ids, then for its rows.
  const progress = createProgress(size * 2, 'import');
  const rows = () => READERS[format](readText(path, progress.advance));
  const none = () => ({ created: 0, updated: 0, unchanged: 0 });
  const counts = { member: none(), adoption: none() };
  let rejected = 0;
  let order = 0;
  /** By record: two rows about one record go into different batches, so that the later one wins. */
  let batch = new Map<string, CheckedRow>();
  /** Rows rejected since the last batch, to be reported in order with those that the database refuses. */
  let problems: { line: number; fault: string }[] = [];

  async function store(): Promise<void> {
    const { stored, refused } = await storeRows(domain, [...batch.values()]);
    for (const { record, outcome } of stored) counts[record][outcome] += 1;
    const rejects = [...problems, ...refused].sort((a, b) => a.line - b.line);
    for (const { line, fault } of rejects) progress.line(printable(`line ${line}: ${fault}`));
    rejected += rejects.length;
    batch = new Map();
    problems = [];
  }

  try {
    const highest = await highestNumber(rows());
    if (highest > 0) await domain.adoption.reservePostNumbers(highest);
    for await (const raw of rows()) {
      const checked = 'fault' in raw ? { faults: [raw.fault] } : checkRow(raw.value);
      if ('faults' in checked) {
        problems.push({ line: raw.line, fault: checked.faults.join('; ') });
        if (problems.length >= BATCH) await store();
        continue;
      }
      order += 1;
      const row = { line: raw.line, order, row: checked.row };
      const identity = identityOf(row);
      if (batch.size >= BATCH || batch.has(identity)) await store();
      batch.set(identity, row);
    }
    await store();
  } finally {
    progress.stop();
  }
  process.stdout.write(`${summary(counts, rejected)}\n`);
  return rejected === 0 ? 0 : 1;
}
