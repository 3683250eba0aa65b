import { readLines } from './check/read-lines.js';
import type { Fail, HistoryLine, Info, Invoke, Ok, SeenMessage } from './history.js';

/** One transaction of Elle's list-append model: a message is appended to its room, or a whole room is read. */
interface Transaction {
  room: number;
  askedAt: number;
  endedAt: number;
  type: 'ok' | 'fail' | 'info';
  /** Of an append: the message's own number here. */
  appended?: number;
  /** Of a read: texts, oldest first. */
  read?: string[];
}

class Transactions {
  readonly #sends = new Map<string, Transaction>();
  readonly #reads: Transaction[] = [];
  readonly #asked = new Map<number, Invoke>();
  /** The first message of each room: a page that begins with it is the whole room. */
  readonly #firstOf = new Map<number, string>();

  read(line: HistoryLine): void {
    if (line.e === 'invoke') this.#ask(line);
    else if (line.e === 'ok' || line.e === 'fail' || line.e === 'info') this.#settle(line);
  }

  #ask(asked: Invoke): void {
    this.#asked.set(asked.op, asked);
    if (asked.f !== 'send' || this.#sends.has(asked.content)) return;
    const { room, content, t } = asked;
    const appended = this.#sends.size + 1;
    this.#sends.set(content, { room, askedAt: t, endedAt: Number.POSITIVE_INFINITY, type: 'info', appended });
  }

  #settle(line: Ok | Fail | Info): void {
    const asked = this.#asked.get(line.op);
    this.#asked.delete(line.op);
    if (!asked) return;
    if (asked.f === 'send') this.#settleSend(this.#sends.get(asked.content), line);
    if (line.e !== 'ok') return;
    if (line.f === 'join' && asked.f === 'join' && asked.after === 0 && !line.more)
      this.#addRead(asked.room, asked.t, line.t, line.messages);
    if (line.f === 'messages' && asked.f === 'messages' && asked.before === undefined)
      this.#addRead(asked.room, asked.t, line.t, line.messages);
  }

  /** All attempts to send a message are one transaction: it is done once, at some time until the first answer. */
  #settleSend(send: Transaction | undefined, { e, t }: Ok | Fail | Info): void {
    if (!send || send.type === 'ok') return;
    if (e === 'ok') {
      send.type = 'ok';
      send.endedAt = t;
    } else if (e === 'fail' && send.endedAt === Number.POSITIVE_INFINITY) {
      send.type = 'fail';
      send.endedAt = t;
    } else {
      // Of an unknown outcome nothing is known until the end.
      send.type = 'info';
      send.endedAt = t;
    }
  }

  #addRead(room: number, askedAt: number, endedAt: number, messages: SeenMessage[]): void {
    const first = messages.find(({ seq }) => seq === 1);
    if (first) this.#firstOf.set(room, first.content);
    const read = messages.map(({ content }) => content);
    this.#reads.push({ room, askedAt, endedAt, type: 'ok', read });
  }

  /** @param room only this one */
  all(room: number | undefined): Transaction[] {
    const whole = this.#reads.filter((one) => {
      const [first] = one.read ?? [];
      return first === undefined || first === this.#firstOf.get(one.room);
    });
    return [...this.#sends.values(), ...whole].filter((one) => room === undefined || one.room === room);
  }

  numberOf(content: string): number {
    // What nobody has sent is none of the numbers.
    return this.#sends.get(content)?.appended ?? 0;
  }
}

/** The lines of all transactions, in order of time; one process has one transaction at a time. */
function* write(transactions: Transaction[], numberOf: (content: string) => number): Generator<string> {
  const events = transactions.flatMap((one) => [
    { t: one.askedAt, one, type: 'invoke' },
    { t: one.endedAt, one, type: one.type },
  ]);
  events.sort((a, b) => a.t - b.t);
  const processes = new Map<Transaction, number>();
  const free: number[] = [];
  let used = 0;
  let index = 0;
  for (const { t, one, type } of events) {
    if (t === Number.POSITIVE_INFINITY) continue;
    let process = processes.get(one);
    if (process === undefined) {
      process = free.pop();
      if (process === undefined) {
        process = used;
        used += 1;
      }
      processes.set(one, process);
    } else if (type !== 'info') free.push(process);
    const list = type === 'invoke' || !one.read ? 'nil' : `[${one.read.map(numberOf).join(' ')}]`;
    const operation =
      one.appended === undefined ? `[:r ${one.room} ${list}]` : `[:append ${one.room} ${one.appended}]`;
    yield `{:index ${index}, :type :${type}, :f :txn, :process ${process}, :time ${Math.round(t * 1e6)}, :value [${operation}]}`;
    index += 1;
  }
}

/**
 * The messages of a history as elle-cli reads them (EDN, model list-append), so that another checker can judge: a room is a
 * list, a message sent is an append, a read of the whole room is a read.
 *
 * @param room only this one
 * @returns the lines
 * @throws Error naming the number of a line that is no part of a history
 */
export async function* exportElle(lines: AsyncIterable<string>, room?: number): AsyncGenerator<string> {
  const transactions = new Transactions();
  for await (const { line } of readLines(lines)) transactions.read(line);
  yield* write(transactions.all(room), (content) => transactions.numberOf(content));
}
