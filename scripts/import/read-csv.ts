import { parse } from 'csv-parse/sync';
import { type Line, type Row, splitLines, tooLong, UnreadableFile } from './source.js';

/** Most lines of one record. */
const MAX_LINES = 200;

const WRONG_QUOTE = 'has a quote (") that is not closed, or stands inside a value without being doubled';

/** A record, known by the line on which it starts. */
type CsvRecord = { line: number } & ({ cells: string[] } | { fault: string });

function countQuotes(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count += 1;
  return count;
}

/** The cells of one record, or undefined when its quotes are wrong. */
function cellsOf(text: string): string[] | undefined {
  if (!text.includes('"')) return text.split(',').map((cell) => cell.trim());
  try {
    const records: string[][] = parse(text, { trim: true, relax_column_count: true });
    return records.length === 1 ? records[0] : undefined;
  } catch {
    return undefined;
  }
}

/** Cells by the names in the header; empty cells are left out. */
function rowOf(line: number, header: string[], cells: string[]): Row {
  if (cells.length !== header.length) {
    return { line, fault: `has ${cells.length} values, but the header names ${header.length}` };
  }
  const named = header.map((name, i): [string, string] => [name, cells[i] as string]);
  return { line, value: Object.fromEntries(named.filter(([, cell]) => cell !== '')) };
}

/** Splits CSV (RFC 4180) into records. */
class RecordReader {
  readonly #lines: AsyncGenerator<Line>;
  /** Lines to be read once more. */
  readonly #again: Line[] = [];

  constructor(lines: AsyncGenerator<Line>) {
    this.#lines = lines;
  }

  async *records(): AsyncGenerator<CsvRecord> {
    for (let first = await this.#next(); first; first = await this.#next()) {
      const { line, text } = first;
      if (text === undefined) yield { line, fault: tooLong };
      else if (text.trim() !== '') yield await this.#recordFrom({ line, text });
    }
  }

  async #next(): Promise<Line | undefined> {
    return this.#again.shift() ?? ((await this.#lines.next()).value as Line | undefined);
  }

  /**
   * The record that begins on a line. It continues on the next line while a quote is open. If the result is
   * not well-formed, the quote was wrong: only the first line is rejected and the following ones are read
   * again, so that one stray quote does not consume the rest of the file.
   */
  async #recordFrom(first: { line: number; text: string }): Promise<CsvRecord> {
    const { line } = first;
    const record: Line[] = [first];
    let isOpen = countQuotes(first.text) % 2 === 1;
    while (isOpen && record.length < MAX_LINES) {
      const more = await this.#next();
      if (!more) break;
      record.push(more);
      if (more.text === undefined) break;
      isOpen = countQuotes(more.text) % 2 === 0;
    }
    const cells = isOpen ? undefined : cellsOf(record.map(({ text }) => text ?? '').join('\n'));
    if (cells) return { line, cells };
    this.#again.unshift(...record.slice(1));
    return { line, fault: WRONG_QUOTE };
  }
}

/** @throws UnreadableFile when a header does not name `record`, or names a column twice */
function checkHeader(line: number, header: string[]): void {
  if (!header.includes('record'))
    throw new UnreadableFile(
      `line ${line}: the first row of a CSV file names its columns, separated by commas, "record" among them`,
    );
  const twice = header.find((name, i) => name !== '' && header.indexOf(name) < i);
  if (twice !== undefined)
    throw new UnreadableFile(`line ${line}: the column "${twice}" is named twice: delete or rename one`);
}

/**
 * CSV with a header row, comma-separated, UTF-8; rows without a value are skipped.
 * @throws UnreadableFile when the header does not name `record`, or names a column twice
 */
export async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<Row> {
  let header: string[] | undefined;
  for await (const record of new RecordReader(splitLines(pieces)).records()) {
    // Spreadsheets write their empty rows as commas.
    if ('cells' in record && record.cells.every((cell) => cell === '')) continue;
    if (header) {
      yield 'cells' in record ? rowOf(record.line, header, record.cells) : record;
      continue;
    }
    header = 'cells' in record ? record.cells : [];
    checkHeader(record.line, header);
  }
}
