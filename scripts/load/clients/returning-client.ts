import type { Histogram } from 'hdr-histogram-js';
import { record } from '../latency.js';
import { findStamp, nowMicros, STAMP_LENGTH, stampedAt } from '../stamp.js';
import type { Connection, ConnectionSpec, Target } from './connection.js';
import { openConnection } from './open-connection.js';

/** Longest time until a connection is ready, and pause before a refused message is sent again, ms. */
const READY_MS = 20_000;
const AGAIN_MS = 100;

/** Longest pause before another attempt to connect, as a multiple of the first one. */
const LONGEST_DELAY = 5;

/** Connection state recovery: the session in the answer to connecting, and the offset, last in each event. */
const PID = /"pid":"([^"]+)"/;
const OFFSET = /,"([^"]+)"\]$/;

/** The first line of a message of nchan. */
const NCHAN_ID = /^id: (\S+)\n/;

/** What the clients of a process have in common. */
export interface Surroundings {
  /** Servers, tried in turn. */
  targets: Target[];
  /**
   * Pause after a lost connection or the first failed attempt, ms; doubled by each other one up to five times, and half
   * as long to half as long again at random: by default those of Socket.IO's client with 1,000.
   */
  delayMs: number;
  /**
   * µs until a message that was due before a client was back has arrived: from its first attempt to come back on, or from when
   * the message was due, if that was later.
   */
  catchUp: Histogram;
}

/**
 * A client that loses its connection and comes back as its protocol allows: the service gets the number of the last
 * message, Socket.IO with connection state recovery the session and its last offset, nchan the id of the last message,
 * others nothing. It also sends:
 * a message without an acknowledgement again, under the same client id.
 */
export class ReturningClient {
  /** Different messages, by the moment at which each was due, µs. */
  readonly received = new Set<number>();
  /** Resolves when it is first connected. */
  readonly opened: Promise<void>;
  readonly #spec: ConnectionSpec;
  readonly #surroundings: Surroundings;
  readonly #unacknowledged = new Map<number, string>();
  #onReady: () => void = () => {};
  #connection: Connection | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ready = false;
  /** Attempts to connect since it was last connected, and in total: the next one's target. */
  #attempts = 0;
  #next: number;
  /** When it made its first attempt to come back, and when it was back, µs; undefined while it was never away. */
  #returnedAt: number | undefined;
  #backAt: number | undefined;
  /** Number of the last message, and of one that came before the messages since the last one. */
  #seq = 0;
  #early = 0;
  readonly #session: Partial<{ pid: string; offset: string }> = {};

  /** @param index of its first target */
  constructor(spec: ConnectionSpec, index: number, surroundings: Surroundings) {
    this.#spec = spec;
    this.#next = index;
    this.#surroundings = surroundings;
    this.opened = new Promise((resolve) => {
      this.#onReady = resolve;
    });
    this.#connect();
  }

  get connected(): boolean {
    return this.#ready;
  }

  /** Messages that were not acknowledged yet. */
  get waiting(): number {
    return this.#unacknowledged.size;
  }

  /** Cuts the connection, if there is one, and comes back after a time. Without `awayMs` it stays away. */
  cut(awayMs?: number): void {
    if (!this.#ready) return;
    this.#leave();
    if (awayMs !== undefined) this.#timer = setTimeout(() => this.#return(), awayMs);
  }

  /** @param count of the message, from 1 */
  send(text: string, count: number): void {
    this.#unacknowledged.set(count, text);
    if (this.#ready) this.#connection?.send(text, count);
  }

  #leave(): void {
    clearTimeout(this.#timer);
    this.#connection?.cut();
    this.#connection = undefined;
    if (this.#ready) this.#returnedAt = undefined;
    this.#ready = false;
    this.#early = 0;
  }

  #return(): void {
    this.#returnedAt ??= nowMicros();
    this.#backAt = undefined;
    this.#connect();
  }

  #connect(): void {
    const { targets } = this.#surroundings;
    const target = targets[this.#next % targets.length] as Target;
    const { pid, offset } = this.#session;
    const session = offset === undefined ? undefined : { pid, offset };
    // Frames of a connection that was cut may still be handled.
    const current = (handle: () => void) => connection === this.#connection && handle();
    const connection: Connection = openConnection(
      target,
      { ...this.#spec, after: this.#seq, session },
      {
        ready: () => current(() => this.#becomeReady()),
        delivered: (bytes, from, to) => current(() => this.#read(bytes, from, to)),
        answered: (bytes, from, to) => current(() => this.#read(bytes, from, to)),
        acknowledged: (ok, count) => current(() => this.#acknowledged(ok, count)),
        closed: () => current(() => this.#lost()),
      },
    );
    this.#connection = connection;
    this.#timer = setTimeout(() => this.#lost(), READY_MS);
  }

  #becomeReady(): void {
    clearTimeout(this.#timer);
    this.#ready = true;
    this.#backAt = nowMicros();
    this.#attempts = 0;
    this.#seq = Math.max(this.#seq, this.#early);
    this.#onReady();
    for (const [count, text] of this.#unacknowledged) this.#connection?.send(text, count);
  }

  #lost(): void {
    this.#leave();
    const { delayMs } = this.#surroundings;
    const pause = delayMs * Math.min(2 ** this.#attempts, LONGEST_DELAY) * (0.5 + Math.random());
    this.#attempts += 1;
    this.#next += 1;
    this.#timer = setTimeout(() => this.#return(), pause);
  }

  #acknowledged(ok: boolean, count = this.#unacknowledged.keys().next().value ?? 0): void {
    const text = this.#unacknowledged.get(count);
    if (ok) this.#unacknowledged.delete(count);
    else if (text !== undefined)
      setTimeout(() => this.#ready && this.#connection?.send(text, count), AGAIN_MS);
  }

  #read(bytes: Buffer, from: number, to: number): void {
    const now = nowMicros();
    for (let at = findStamp(bytes, from, to, 0); at >= 0; at = findStamp(bytes, at + STAMP_LENGTH, to, 0))
      this.#receive(stampedAt(bytes, at), now);
    const text = bytes.toString('latin1', from, to);
    for (const [, seq] of text.matchAll(/"seq":(\d+)/g))
      if (this.#ready) this.#seq = Math.max(this.#seq, Number(seq));
      else this.#early = Math.max(this.#early, Number(seq));
    this.#session.pid = PID.exec(text)?.[1] ?? this.#session.pid;
    const offset = (this.#session.pid ? OFFSET : NCHAN_ID).exec(text)?.[1];
    this.#session.offset = offset ?? this.#session.offset;
  }

  #receive(dueAt: number, now: number): void {
    if (this.received.has(dueAt)) return;
    this.received.add(dueAt);
    if (this.#returnedAt !== undefined && dueAt < (this.#backAt ?? now))
      record(this.#surroundings.catchUp, now - Math.max(this.#returnedAt, dueAt));
  }
}
