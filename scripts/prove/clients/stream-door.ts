import { setTimeout as sleep } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Account } from '../../run-accounts/accounts.js';
import { reasonOf, refusalOf } from '../../run-accounts/rest.js';
import type { StreamEvent } from '../answers/notifications.js';
import type { HistoryFile, Pending } from '../history-file.js';
import type { Served } from '../served.js';

/** Longest pause before a stream is opened again, ms. */
const RETRY_MS = 400;

/** Longest time until a stream begins, ms. */
const OPEN_WITHIN_MS = 8_000;

/** A client's event stream, recorded: opened again with its last event id whenever it ends, as browsers do. */
export class StreamDoor {
  readonly #history: HistoryFile;
  readonly #account: Account;
  readonly #client: string;
  readonly #address: () => Served;
  /** Number of the last notification received. */
  #last: number | undefined;
  #abort = new AbortController();
  #isClosed = false;
  #pauseMs = 0;
  readonly #run: Promise<void>;

  /** @param address the http process for the next connection @param below random numbers for pauses */
  constructor(
    history: HistoryFile,
    account: Account,
    client: string,
    address: () => Served,
    below: (limit: number) => number,
  ) {
    this.#history = history;
    this.#account = account;
    this.#client = client;
    this.#address = address;
    this.#run = this.#follow(below);
  }

  /** Ends the connection; the stream comes back after this time, ms. */
  drop(pauseMs: number): void {
    this.#pauseMs = pauseMs;
    this.#abort.abort();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#abort.abort();
    await this.#run;
  }

  async #follow(below: (limit: number) => number): Promise<void> {
    while (!this.#isClosed) {
      this.#abort = new AbortController();
      await this.#open();
      const pauseMs = this.#pauseMs + below(RETRY_MS);
      this.#pauseMs = 0;
      if (!this.#isClosed) await sleep(pauseMs);
    }
  }

  /** Resolves when the stream has ended. */
  async #open(): Promise<void> {
    const { name, base } = this.#address();
    const { signal } = this.#abort;
    const asker = { client: this.#client, member: this.#account.no, process: name, door: 'stream' } as const;
    const pending = this.#history.begin(
      asker,
      'stream',
      this.#last === undefined ? {} : { after: this.#last },
    );
    const late = setTimeout(() => this.#abort.abort(new Error('timeout')), OPEN_WITHIN_MS);
    let isOpen = false;
    let reason = 'ended';
    try {
      const response = await fetch(`${base}/notification/connect`, {
        headers: {
          'User-Agent': `prove/${this.#client}`,
          Authorization: this.#account.token,
          Accept: 'text/event-stream',
          ...(this.#last === undefined ? {} : { 'Last-Event-ID': `${this.#account.no}_${this.#last}` }),
        },
        signal,
      });
      if (!response.ok) {
        await refuse(pending, response);
        return;
      }
      clearTimeout(late);
      const parser = createParser({
        onEvent: (event) => {
          if (isOpen) this.#receive(event, name);
          else this.#note(pending.ok({ ...carried(event), headers: headersOf(response) }).last);
          isOpen = true;
        },
      });
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? [])
        parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    } catch (error) {
      reason = reasonOf(error);
    } finally {
      clearTimeout(late);
      pending.info(reason);
      if (isOpen) this.#history.write({ e: 'closed', client: this.#client, door: 'stream', reason });
    }
  }

  /** An event without an id leaves the last one as it is. */
  #note(n: number | null): void {
    this.#last = n ?? this.#last;
  }

  #receive(event: EventSourceMessage, process: string): void {
    const by = { client: this.#client, member: this.#account.no, process, door: 'stream' } as const;
    this.#note(this.#history.deliver(by, 'notification', carried(event)).n);
  }
}

const carried = ({ id, event, data }: EventSourceMessage): StreamEvent => ({ id, event, data });

/** Those that the interface names. */
const headersOf = ({ headers }: Response) => ({
  type: headers.get('Content-Type')?.split(';')[0],
  buffering: headers.get('X-Accel-Buffering'),
  connection: headers.get('Connection'),
});

async function refuse(pending: Pending<'stream'>, response: Response): Promise<void> {
  const { status, code, isCertain } = refusalOf((await response.json()) as object, response.status);
  if (isCertain) pending.fail(status, code);
  else pending.info(`${status} ${code}`);
}
