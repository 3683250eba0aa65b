import { MALFORMED, parseJson } from './read-ndjson.js';
import { MAX_ROW, type Row, tooLong, UnreadableFile } from './source.js';

/** Significant characters outside and inside a string; the text between them is read as a whole. */
const OUTSIDE = /[",[\]{}\n]/g;
const IN_STRING = /["\\\n]/g;

const UNCLOSED = 'the array is not closed: the file may have been cut off';

function notAnArray(line: number): UnreadableFile {
  return new UnreadableFile(
    `line ${line}: a JSON file holds an array; one object per line is NDJSON (name it .ndjson)`,
  );
}

/** Splits a JSON array into its elements' texts; see readJsonArray. */
class ArraySplitter {
  #line = 1;
  /** White space at the start of the current line, and whether more may follow. */
  #indent = 0;
  #atLineStart = true;
  /** Open brackets and braces; 0 before the array. */
  #depth = 0;
  #ended = false;
  /** The line of text after the array; 0 for none. */
  #trailingLine = 0;
  #inString = false;
  #escaped = false;
  #afterComma = false;
  /** The current element: its text, and the line it starts on (0: not begun) with that line's indent. */
  #text = '';
  #start = 0;
  #startIndent = 0;
  #overlong = false;

  /**
   * Splits the next piece of the file.
   * @param isAgain whether it is what a damaged element held. Each line that may begin the next element then does: so
   *   no text is read more than twice, however many elements are damaged
   * @throws UnreadableFile if it is not an array
   */
  *split(text: string, isAgain = false): Generator<Row> {
    let at = 0;
    while (at < text.length) {
      if (this.#ended) {
        this.#skipTrailing(text.slice(at));
        return;
      }
      const next = this.#plain(text, at);
      if (next === text.length) return;
      const character = text[next] as string;
      if (isAgain && this.#mayBeginNext(character)) yield this.#cut();
      const ended = this.#mark(character);
      at = next + 1;
      if (!ended && this.#text.length <= MAX_ROW) continue;
      const wasDamaged = yield* this.#finish(ended === ']');
      // The character that ended the damaged element ends the last one found in it.
      if (wasDamaged && ended) at = next;
    }
  }

  /** Handles the end of the file. @throws UnreadableFile if it held no array */
  *end(): Generator<Row> {
    if (this.#depth === 0) {
      throw new UnreadableFile('the file is empty; a JSON file holds an array');
    }
    while (this.#start > 0) yield* this.#finish(false);
    if (!this.#ended) yield { line: this.#line, fault: UNCLOSED };
    if (this.#trailingLine > 0)
      yield { line: this.#trailingLine, fault: 'stands behind the end of the array' };
  }

  #skipTrailing(text: string): void {
    if (this.#trailingLine > 0) return;
    const blank = text.slice(0, text.length - text.trimStart().length);
    this.#line += blank.match(/\n/g)?.length ?? 0;
    if (blank.length < text.length) this.#trailingLine = this.#line;
  }

  /** Reads the plain text from an offset on. @returns the offset of the next significant character */
  #plain(text: string, at: number): number {
    const marks = this.#inString ? IN_STRING : OUTSIDE;
    marks.lastIndex = this.#escaped && text[at] !== '\n' ? at + 1 : at;
    this.#escaped = false;
    const next = marks.exec(text)?.index ?? text.length;
    const plain = text.slice(at, next);
    const blank = plain.length - plain.trimStart().length;
    if (this.#atLineStart) {
      this.#indent += blank;
      this.#atLineStart = blank === plain.length;
    }
    if (blank < plain.length && this.#depth === 0) throw notAnArray(this.#line);
    if (this.#start > 0 || blank < plain.length) this.#append(plain);
    return next;
  }

  /** Processes a significant character. @returns it if it ends an element */
  #mark(character: string): ',' | ']' | undefined {
    if (character === '\n') return this.#endLine();
    this.#atLineStart = false;
    if (this.#inString) {
      if (character === '"') this.#inString = false;
      else this.#escaped = true;
    } else if (this.#depth === 0) {
      if (character !== '[') throw notAnArray(this.#line);
      this.#depth = 1;
      return undefined;
    } else if (this.#depth === 1 && (character === ',' || character === ']')) {
      return character;
    } else {
      this.#nest(character);
    }
    this.#append(character);
    return undefined;
  }

  #endLine(): undefined {
    if (this.#start > 0) this.#append('\n');
    // No JSON string contains a line break: an open one is damaged.
    this.#inString = false;
    this.#line += 1;
    this.#indent = 0;
    this.#atLineStart = true;
  }

  #nest(character: string): void {
    if (character === '"') this.#inString = true;
    if (character === '{' || character === '[') this.#depth += 1;
    // A surplus brace belongs to its element, which will not parse; the array continues.
    if ((character === '}' || character === ']') && this.#depth > 1) this.#depth -= 1;
  }

  #append(text: string): void {
    if (this.#start === 0) {
      this.#start = this.#line;
      this.#startIndent = this.#indent;
    }
    if (!this.#overlong) this.#text += text;
  }

  /**
   * Yields the element that ends here or has become too long.
   * @returns whether it is damaged and another one seemed to begin in it: the text from there on has been read again
   */
  *#finish(last: boolean): Generator<Row, boolean> {
    const [line, text] = [this.#start, this.#text];
    const row = this.#overlong ? { line, fault: tooLong } : parseJson(line, text);
    if (line === 0) {
      // `[]` is empty; `[a,]` and `[,a]` have a surplus comma.
      if (!last || this.#afterComma) yield { line: this.#line, fault: 'is empty: there is a comma too many' };
      this.#afterComma = !last;
      this.#ended = last;
      return false;
    }
    const again = 'fault' in row && !this.#overlong ? this.#nextStart(text) : undefined;
    if (again === undefined && text.length > MAX_ROW) {
      // The rest of an element that is too long is discarded.
      this.#overlong = true;
      this.#text = '';
      return false;
    }
    yield row;
    this.#beginElement();
    this.#afterComma = !last;
    if (again === undefined) {
      this.#ended = last;
      return false;
    }
    this.#line = line + (text.slice(0, again).match(/\n/g)?.length ?? 0);
    this.#inString = false;
    this.#escaped = false;
    this.#indent = 0;
    this.#atLineStart = true;
    this.#afterComma = true;
    yield* this.split(text.slice(again), true);
    return true;
  }

  /** Whether a character begins an object on a line of its own, indented no deeper than the open element. */
  #mayBeginNext(character: string): boolean {
    return character === '{' && this.#atLineStart && this.#start > 0 && this.#indent <= this.#startIndent;
  }

  /** Ends the open element, whose quotes or brackets are not closed. */
  #cut(): Row {
    const line = this.#start;
    const fault = this.#overlong ? tooLong : MALFORMED;
    this.#beginElement();
    return { line, fault };
  }

  #beginElement(): void {
    this.#text = '';
    this.#start = 0;
    this.#overlong = false;
    this.#depth = 1;
  }

  /** Offset of a line that begins another object, indented no deeper than the element. */
  #nextStart(text: string): number | undefined {
    const found = new RegExp(`\\n(?=[ \\t]{0,${this.#startIndent}}\\{)`).exec(text);
    return found ? found.index + 1 : undefined;
  }
}

/**
 * The elements of a JSON array, split without parsing the whole: memory is bounded, and each element is
 * identified by the line on which it starts. A damaged element does not affect the others: if a quote or
 * brace is missing, the next line that begins an object indented no deeper begins the next element.
 *
 * @throws UnreadableFile if the file does not hold an array
 */
export async function* readJsonArray(pieces: AsyncIterable<string>): AsyncGenerator<Row> {
  const splitter = new ArraySplitter();
  for await (const piece of pieces) yield* splitter.split(piece);
  yield* splitter.end();
}
