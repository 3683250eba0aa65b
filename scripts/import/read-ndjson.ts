import { type Row, splitLines, tooLong } from './source.js';

export const MALFORMED = 'is not well-formed JSON';

/** One JSON value as a row. */
export function parseJson(line: number, text: string): Row {
  try {
    return { line, value: JSON.parse(text) };
  } catch {
    return { line, fault: MALFORMED };
  }
}

/** NDJSON: one object per line; blank lines are skipped. */
export async function* readNdjson(pieces: AsyncIterable<string>): AsyncGenerator<Row> {
  for await (const { line, text } of splitLines(pieces)) {
    if (text === undefined) yield { line, fault: tooLong };
    else if (text.trim() !== '') yield parseJson(line, text);
  }
}
