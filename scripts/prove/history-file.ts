import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import {
  type OperationName,
  type Operations,
  type Reading,
  readingOf,
  readingOfEvent,
  type SocketEvents,
  type StreamEvents,
} from './answers/index.js';
import type { Around } from './answers/operation.js';
import { condense } from './answers/rest.js';
import { World } from './answers/world.js';
import type { Door, HistoryLine } from './history.js';

/** Characters that are written at once, and the longest time, ms, for which a line waits for others. */
const BLOCK = 64 * 1024;
const FLUSH_MS = 200;

/** A line without its time. */
type Untimed<L> = L extends unknown ? Omit<L, 't'> : never;

/** Who asks, and through what. */
export interface Asker {
  client: string;
  member: number;
  process: string;
  door: Door;
}

/** An operation under way. The first outcome counts; a later one, as an answer after the time-out, is ignored. */
export interface Pending<F extends OperationName> {
  /** @param answer as it came. @returns what the history keeps of it by name */
  ok(answer: unknown): Operations[F]['answered'];
  fail(status: number, code: string): void;
  info(reason: string): void;
}

function keep({ read, rest: expect }: Reading, answer: unknown, around: Around) {
  const { kept, rest } = read(answer, around);
  const condensed = condense(rest, expect(around, kept));
  return { kept, rest: condensed === undefined ? {} : { rest: condensed } };
}

/** Writes the history of a run. Lines get their time as they are written, in the order of the calls. */
export class HistoryFile {
  readonly path: string;
  readonly #stream: WriteStream;
  readonly #finished: Promise<void>;
  readonly #startedAt = performance.now();
  readonly #onLine: (line: object) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #world = new World();
  #waiting: string[] = [];
  #length = 0;
  #ops = 0;
  #acknowledged = 0;
  #deliveries = 0;
  #lastDeliveryAt = 0;
  #isClosed = false;

  /**
   * @param onFailure called once, as soon as a line cannot be written, with an error that names the file and the reason
   * @param onLine called with each line, with its time, after the call that writes it has put it in its place
   */
  constructor(
    path: string,
    onFailure: (error: Error) => void = () => {},
    onLine: (line: object) => void = () => {},
  ) {
    this.path = path;
    this.#onLine = onLine;
    this.#stream = createWriteStream(path);
    this.#finished = finished(this.#stream).catch((error: Error) => {
      throw new Error(`the history ${path} cannot be written: ${error.message}`, { cause: error });
    });
    this.#finished.catch(onFailure);
    this.#timer = setInterval(() => this.#flush(), FLUSH_MS);
  }

  /** ms since the run began. */
  now(): number {
    return Math.round((performance.now() - this.#startedAt) * 1_000) / 1_000;
  }

  /** Operations, acknowledged attempts to send a message, and deliveries so far. */
  get counts(): { operations: number; acknowledged: number; deliveries: number } {
    return { operations: this.#ops, acknowledged: this.#acknowledged, deliveries: this.#deliveries };
  }

  /** ms since something was last delivered to a client. */
  get silentMs(): number {
    return this.now() - this.#lastDeliveryAt;
  }

  /** Clients that are still under way when a run has ended write nothing more. */
  write(line: Untimed<HistoryLine>): void {
    if (this.#isClosed) return;
    const t = this.now();
    if (line.e === 'header') this.#world.open(line);
    if (line.e === 'ok' && line.f === 'send') this.#acknowledged += 1;
    if (line.e === 'delivery') {
      this.#deliveries += 1;
      this.#lastDeliveryAt = t;
    }
    const timed = { t, ...line };
    const text = `${JSON.stringify(timed)}\n`;
    this.#waiting.push(text);
    this.#length += text.length;
    if (this.#length > BLOCK) this.#flush();
    this.#onLine(timed);
  }

  /** Writes that an operation begins. To be called before its request leaves. */
  begin<F extends OperationName>(asker: Asker, f: F, asked: Operations[F]['asked']): Pending<F> {
    this.#ops += 1;
    const op = this.#ops;
    let isDone = false;
    const end = (line: object) => {
      if (!isDone) this.write({ ...line, op } as Untimed<HistoryLine>);
      isDone = true;
    };
    this.write({ e: 'invoke', op, f, ...asker, ...asked } as unknown as Untimed<HistoryLine>);
    const around = { world: this.#world, ...asker, ...asked };
    return {
      ok: (answer) => {
        const { kept, rest } = keep(readingOf(f), answer, around);
        end({ e: 'ok', f, ...kept, ...rest });
        return kept as Operations[F]['answered'];
      },
      fail: (status, code) => end({ e: 'fail', status, code }),
      info: (reason) => end({ e: 'info', reason }),
    };
  }

  /** Writes an event that a client receives. @param payload as it came. @returns what the history keeps of it by name */
  deliver<E extends keyof SocketEvents>(
    asker: Asker & { door: 'socket' },
    event: E,
    payload: unknown,
  ): SocketEvents[E];
  deliver<E extends keyof StreamEvents>(
    asker: Asker & { door: 'stream' },
    event: E,
    payload: unknown,
  ): StreamEvents[E];
  deliver(asker: Asker & { door: 'socket' | 'stream' }, event: string, payload: unknown): object {
    const around = { world: this.#world, ...asker };
    const { kept, rest } = keep(readingOfEvent(asker.door, event), payload, around);
    this.write({ e: 'delivery', ...asker, event, ...kept, ...rest } as Untimed<HistoryLine>);
    return kept;
  }

  /** Writes what waits and closes the file. @throws Error naming the file, if any line could not be written */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#flush();
    this.#isClosed = true;
    this.#stream.end();
    await this.#finished;
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    this.#stream.write(this.#waiting.join(''));
    this.#waiting = [];
    this.#length = 0;
  }
}
