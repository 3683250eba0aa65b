import { parse } from 'csv-parse/sync';
import { type Line, type Row, splitLines, tooLong, UnreadableFile } from './source.js';

/** Most lines one record may span: a text with line breaks does not need more. */
const MAX_LINES = 200;

const OPTIONS = { trim: true, relax_column_count: true } as const;

function countQuotes(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count += 1;
  return count;
}

/** The cells of one record, or undefined when its quotes are wrong. */
function cellsOf(text: string): string[] | undefined {
  if (!text.includes('"')) return text.split(',').map((cell) => cell.trim());
  try {
    const records: string[][] = parse(text, OPTIONS);
    return records.length === 1 ? records[0] : undefined;
  } catch {
    return undefined;
  }
}

/** Cells under the names of the header; an empty cell says nothing of its field. */
function rowOf(line: number, header: string[], cells: string[]): Row {
  if (cells.length !== header.length) {
    return { line, fault: `has ${cells.length} values, but the header names ${header.length}` };
  }
  const named = header.map((name, i): [string, string] => [name, cells[i] as string]);
  return { line, value: Object.fromEntries(named.filter(([, cell]) => cell !== '')) };
}

/**
 * The records of a CSV text (RFC 4180), each known by the line on which it starts.
 *
 * A record goes on over the next line while a quote is open. Where that leads to nothing well-formed,
 * the quote was wrong: only its first line is given up and the lines behind it are read again, so that
 * one stray quote does not swallow the rest of the file.
 */
async function* readRecords(
  lines: AsyncGenerator<Line>,
): AsyncGenerator<{ line: number; cells?: string[]; fault?: string }> {
  const again: Line[] = [];
  const next = async (): Promise<Line | undefined> => {
    const waiting = again.shift();
    if (waiting) return waiting;
    const { value, done } = await lines.next();
    return done ? undefined : value;
  };

  for (let first = await next(); first; first = await next()) {
    const { line, text } = first;
    if (text === undefined) {
      yield { line, fault: tooLong };
      continue;
    }
    if (text.trim() === '') continue;
    const record: Line[] = [first];
    let open = countQuotes(text) % 2 === 1;
    while (open && record.length < MAX_LINES) {
      const more = await next();
      if (!more) break;
      record.push(more);
      if (more.text === undefined) break;
      open = countQuotes(more.text) % 2 === 0;
    }
    const cells = open ? undefined : cellsOf(record.map((part) => part.text ?? '').join('\n'));
    if (cells) {
      yield { line, cells };
      continue;
    }
    yield {
      line,
      fault: 'has a quote (") that is not closed, or stands inside a value without being doubled',
    };
    again.unshift(...record.slice(1));
  }
}

/**
 * CSV with a header row, comma-separated, UTF-8.
 * @throws UnreadableFile when the header does not name `record`
 */
export async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<Row> {
  let header: string[] | undefined;
  for await (const { line, cells, fault } of readRecords(splitLines(pieces))) {
    if (header) {
      yield cells ? rowOf(line, header, cells) : { line, fault: fault ?? '' };
      continue;
    }
    header = cells;
    if (!header?.includes('record')) {
      throw new UnreadableFile(
        `line ${line}: the first row of a CSV file names its columns, separated by commas, "record" among them`,
      );
    }
  }
}
