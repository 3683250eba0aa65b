import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';

/** A file of which no row can be read. */
export class UnreadableFile extends Error {}

/** A row as read from the file: a value to be checked, or why it cannot be read. */
export type Row = { line: number } & ({ value: unknown } | { fault: string });

/** Longest row, characters; bounds memory. */
export const MAX_ROW = 1_048_576;

export const tooLong = `is longer than ${MAX_ROW} characters`;

export type Format = 'json' | 'ndjson' | 'csv';

const ENDINGS: Record<string, Format> = { json: 'json', ndjson: 'ndjson', jsonl: 'ndjson', csv: 'csv' };

/** The format by the file's first character: an array, an object, else a header row. */
function formatOfContent(start: string): Format {
  const text = start.replace(/^\uFEFF/, '').trimStart();
  if (text.startsWith('[')) return 'json';
  return text.startsWith('{') ? 'ndjson' : 'csv';
}

/**
 * The file's size in bytes, and its format by its ending or else by its content.
 * @throws UnreadableFile when it cannot be read, or is UTF-16
 */
export async function inspectFile(path: string): Promise<{ size: number; format: Format }> {
  try {
    const file = await open(path);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new UnreadableFile(`${path} is not a file`);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4_096), 0, 4_096, 0);
      const start = buffer.subarray(0, bytesRead);
      const mark = start.subarray(0, 2).toString('hex');
      if (mark === 'fffe' || mark === 'feff') throw new UnreadableFile(`${path} is UTF-16; save it as UTF-8`);
      const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
      return { size: stats.size, format: ENDINGS[ending] ?? formatOfContent(start.toString()) };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new UnreadableFile(`there is no file ${path}`);
    if (code === 'EACCES') throw new UnreadableFile(`the file ${path} may not be read`);
    throw error;
  }
}

/**
 * The file's text in pieces, without its byte order mark. Invalid UTF-8 becomes U+FFFD, which the check of a
 * row refuses: one damaged row must not prevent the others.
 *
 * @param onBytes called with the number of bytes of each piece
 */
export async function* readText(path: string, onBytes: (count: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  for await (const chunk of createReadStream(path)) {
    onBytes((chunk as Buffer).length);
    yield decoder.decode(chunk as Buffer, { stream: true });
  }
  yield decoder.decode();
}

/** A line of the file; `text` is undefined if it is too long. */
export interface Line {
  line: number;
  text: string | undefined;
}

/**
 * The lines of a text, numbered from 1. Only LF and CR LF end a line: JSON may contain U+2028.
 */
export async function* splitLines(pieces: AsyncIterable<string>): AsyncGenerator<Line> {
  let line = 1;
  let begun = '';
  let overlong = false;

  function finish(end: string): Line {
    const text = (begun + end).replace(/\r$/, '');
    const done = { line, text: overlong || text.length > MAX_ROW ? undefined : text };
    line += 1;
    begun = '';
    overlong = false;
    return done;
  }

  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', from)) {
      yield finish(piece.slice(from, at));
      from = at + 1;
    }
    if (overlong) continue;
    begun += piece.slice(from);
    // One more for the CR of its line ending.
    if (begun.length > MAX_ROW + 1) {
      overlong = true;
      begun = '';
    }
  }
  if (begun !== '' || overlong) yield finish('');
}
