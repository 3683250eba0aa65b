import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import type { Live, ReadPosition } from '../kernel/live.js';
import { insertInOrder } from '../platform/mongo/inserts.js';
import type { MessageStages } from '../platform/observe/message-stages.js';
import { metrics } from '../platform/observe/metrics.js';
import { Message, type MessageRecord } from './message.model.js';
import type { Presence } from './presence.js';
import { other, Room, type Side } from './room.model.js';
import {
  addToState,
  type NewMessage,
  nextRecord,
  type RoomNumbers,
  type RoomState,
  type RoomStates,
} from './room-states.js';
import { createSharedInserts } from './shared-inserts.js';

export interface Draft extends NewMessage {
  stages?: MessageStages | undefined;
}

export interface Appended {
  record: MessageRecord;
  /** The room's state with this message in it. */
  state: RoomState;
  /** True if a message with this client key was stored before: nothing new was written. */
  repeated: boolean;
}

export interface LedgerDeps {
  clock: Clock;
  states: RoomStates;
  /** Read just before the write: a present recipient has read the message at once. */
  presence: Pick<Presence, 'isPresent'>;
  live: Pick<Live, 'connectionsIn'>;
  /**
   * Called for a room whose failed write may be stored nevertheless.
   * @param seq the newest number known before it
   */
  onUnknownOutcome(chatNo: number, seq: number): void;
  /** In place of GATHER_MS, for tests. */
  gatherMs?: number;
}

/** Most attempts to store a send: each failed one means that another process has stored a message. */
const MAX_ATTEMPTS = 200;

/**
 * Longest wait of a send while the database answers no insert, ms. A room's sends are stored one after another:
 * during an outage each would wait for those before it to time out. While the queue moves, there is no limit.
 */
const MAX_WAIT_MS = 3_000;

/**
 * From MIN_RUN waiting sends on, a room gets an insert to itself, of at most MAX_RUN; from fewer on while fewer rooms
 * are busy than it has waiting sends, as inserts for each of them are then no more than inserts one after another. Other
 * sends are stored one at a time, in inserts shared with other rooms: with thousands of rooms that is cheaper. Those of a
 * large room have an insert to themselves whenever two wait.
 */
const MIN_RUN = 8;
const MAX_RUN = 100;

/**
 * Shortest time between two rounds, ms, by Node.js's timers: in each, all rooms that began to wait since the last one store
 * their messages. After a pause a send waits for nothing. (docs/decisions/delivery.md)
 */
const GATHER_MS = 2;

/**
 * Connections of a room in this process from which on its sends wait GATHER_MS for each other: what is stored together leaves in
 * one write to each connection.
 */
const LARGE_ROOM = 100;

/** A send under way. */
interface Send {
  draft: Draft;
  /** When its wait ends (performance.now()). */
  turnBy: number;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

/** A room with sends under way. */
interface BusyRoom {
  /** Not being stored yet. */
  waiting: Send[];
  /** Being stored, and not settled yet. */
  storing: Send[];
  /** Resolves when there are none left. */
  done: Promise<void>;
}

/**
 * The append-only ledger of messages. Within this process a room's messages are stored one after another;
 * between processes the unique index (room, seq) decides, and the slower one tries the next number.
 */
export class Ledger {
  readonly #deps: LedgerDeps;
  readonly #gatherMs: number;
  readonly #inserts = createSharedInserts();
  readonly #rooms = new Map<number, BusyRoom>();
  /** Writes that the database has not answered, and since when (performance.now()). */
  readonly #writing = new Set<{ chatNo: number; since: number; answered: Promise<unknown> }>();
  /** When the database last stored messages of any room, or refused them as duplicates (performance.now()). */
  #lastAnsweredAt = Number.NEGATIVE_INFINITY;
  #nextRound: Promise<void> | undefined;
  /** When the last round began (performance.now()). */
  #roundBegan = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
    this.#gatherMs = deps.gatherMs ?? GATHER_MS;
  }

  /**
   * Stores a message. The promises of a room's messages resolve in `seq` order: what their callers publish
   * synchronously leaves this process in that order.
   *
   * @throws AppError CHAT_ROOM_NOT_FOUND; SERVICE_UNAVAILABLE when it cannot be stored in time, or after `close`; the
   *   driver's error when the outcome is unknown
   */
  append(chatNo: number, draft: Draft): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#requireOpen();
      const send = { draft, turnBy: performance.now() + MAX_WAIT_MS, resolve, reject };
      const room = this.#rooms.get(chatNo);
      if (room) {
        room.waiting.push(send);
      } else {
        const busy: BusyRoom = { waiting: [send], storing: [], done: Promise.resolve() };
        this.#rooms.set(chatNo, busy);
        busy.done = this.#storeAll(chatNo, busy);
      }
    });
  }

  /** Sends that wait to be stored, those being stored left out. */
  get waiting(): number {
    let waiting = this.#inserts.waiting;
    for (const room of this.#rooms.values()) waiting += room.waiting.length;
    return waiting;
  }

  /** The rooms of writes that the database has not answered for so long, ms: it may have applied them. */
  slowRooms(ms: number): number[] {
    const before = performance.now() - ms;
    return [...this.#writing].filter(({ since }) => since <= before).map(({ chatNo }) => chatNo);
  }

  /**
   * Refuses writes from now on: what a request that is still running stored after the process's goodbye, nobody would
   * publish. Resolves when the writes under way are answered.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const sends = [...this.#rooms.values()].map(({ done }) => done);
    const writes = [...this.#writing].map(({ answered }) => answered);
    await Promise.allSettled([...sends, ...writes]);
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new AppError('SERVICE_UNAVAILABLE', 'this process is shutting down');
  }

  /**
   * Moves a side's read position forward to `seq`, never back and never past the newest message.
   * @returns the new position; undefined if this process knew it already
   * @throws AppError SERVICE_UNAVAILABLE after `close`; the driver's error when the outcome is unknown
   */
  async markRead(state: RoomState, side: Side, wanted: number): Promise<ReadPosition | undefined> {
    const seq = Math.min(wanted, state.seq);
    if (seq <= state.read[side].seq) return undefined;
    let others = state.sent[other(side)];
    if (seq < state.seq) {
      const message = await Message.findOne({ chatNo: state.chatNo, seq }, { sent: 1 }).lean();
      if (!message) return undefined;
      others = message.sent[other(side)];
    }
    this.#requireOpen();
    await this.#write(state, async () => {
      await Room.updateOne(
        { _id: state.chatNo },
        { $max: { [`read.${side}.seq`]: seq, [`read.${side}.others`]: others } },
      );
    });
    if (seq > state.read[side].seq) state.read[side] = { seq, others };
    this.#deps.states.merge(state);
    // Also if the database had it before: the process that wrote it may have ended before publishing it.
    return { memberNo: state[side], seq, others };
  }

  async #storeAll(chatNo: number, room: BusyRoom): Promise<void> {
    const isLarge = () => this.#deps.live.connectionsIn(chatNo) >= LARGE_ROOM;
    if (isLarge()) await new Promise((resolve) => setTimeout(resolve, this.#gatherMs));
    else await this.#round();
    while (room.waiting.length > 0) {
      room.storing = this.#take(room.waiting, isLarge());
      try {
        await this.#store(chatNo, room.storing);
      } catch (error) {
        for (const { reject } of room.storing.splice(0)) reject(error);
      }
    }
    this.#rooms.delete(chatNo);
  }

  /** Resolves when the next round begins. */
  #round(): Promise<void> {
    this.#nextRound ??= new Promise((resolve) => {
      const begin = () => {
        this.#nextRound = undefined;
        this.#roundBegan = performance.now();
        resolve();
      };
      // In whole ms: Node.js leaves fractions out.
      const wait = Math.ceil(this.#roundBegan + this.#gatherMs - performance.now());
      if (wait > 0) setTimeout(begin, wait);
      // What arrives in one turn of the event loop is one round.
      else setImmediate(begin);
    });
    return this.#nextRound;
  }

  /** Takes the next sends to be stored, and refuses those that have waited too long. */
  #take(waiting: Send[], isLarge: boolean): Send[] {
    const now = performance.now();
    const isRun = isLarge || waiting.length >= Math.min(MIN_RUN, this.#rooms.size);
    const count = isRun ? MAX_RUN : 1;
    return waiting.splice(0, count).filter((send) => {
      const isLate = now > send.turnBy && now - this.#lastAnsweredAt > MAX_WAIT_MS;
      if (isLate) send.reject(new AppError('SERVICE_UNAVAILABLE', 'messages are not being stored in time'));
      return !isLate;
    });
  }

  /**
   * Stores sends of one room in order, removing each from `sends` when it is settled.
   * @throws what the remaining ones failed with
   */
  async #store(chatNo: number, sends: Send[]): Promise<void> {
    const { states } = this.#deps;
    for (let failures = 0; failures < MAX_ATTEMPTS && sends.length > 0; ) {
      const state = await states.get(chatNo);
      const records = await this.#nextRecords(state, sends);
      const count = await this.#insert(state, records, sends);
      for (const record of records.slice(0, count)) {
        const { draft, resolve } = sends.shift() as Send;
        draft.stages?.end('insert');
        addToState(state, record, other(draft.side));
        resolve({ record, state, repeated: false });
      }
      states.merge(state);
      const [refused] = sends;
      if (!refused) return;
      if (await this.#settleRepeated(state, refused)) {
        sends.shift();
      } else {
        metrics.conflicts.inc();
        states.forget(chatNo);
        failures = count > 0 ? 1 : failures + 1;
      }
    }
    if (sends.length > 0)
      throw new AppError('SERVICE_UNAVAILABLE', 'too many messages are being sent to this room');
  }

  /** The records that sends become, each following from the one before. */
  async #nextRecords(state: RoomState, sends: Send[]): Promise<MessageRecord[]> {
    const { clock, presence } = this.#deps;
    const present = {} as Record<Side, boolean>;
    for (const { draft } of sends) {
      const recipient = other(draft.side);
      present[recipient] ??= await presence.isPresent(state.chatNo, state[recipient]);
    }
    let last: RoomNumbers = state;
    return sends.map(({ draft }) => {
      const record = nextRecord(state, last, draft, present[other(draft.side)], clock.now());
      last = record;
      return record;
    });
  }

  /**
   * @returns how many records are stored; a unique index refused the next one
   * @throws the driver's error when the outcome is unknown
   */
  async #insert(state: RoomState, records: MessageRecord[], sends: Send[]): Promise<number> {
    const [record] = records;
    const count = await this.#write(state, async () => {
      if (record && records.length === 1 && this.#rooms.size > 1) {
        return (await this.#inserts.add({ record, stages: sends[0]?.draft.stages })) ? 1 : 0;
      }
      for (const { draft } of sends) draft.stages?.end('queue');
      return insertInOrder(Message, records);
    });
    this.#lastAnsweredAt = performance.now();
    return count;
  }

  /** Writes to a room. @throws the driver's error when the outcome is unknown */
  async #write<T>({ chatNo, seq }: RoomState, run: () => Promise<T>): Promise<T> {
    const write = { chatNo, since: performance.now(), answered: run() };
    this.#writing.add(write);
    try {
      return await write.answered;
    } catch (error) {
      // The database may have applied it, as when a time-out follows the write.
      this.#deps.states.forget(chatNo);
      this.#deps.onUnknownOutcome(chatNo, seq);
      throw error;
    } finally {
      this.#writing.delete(write);
    }
  }

  /**
   * Settles a refused send if its client key is taken: the message is stored already. Otherwise another
   * process has taken its number.
   */
  async #settleRepeated(state: RoomState, { draft, resolve }: Send): Promise<boolean> {
    const { chatNo } = state;
    const { side, clientKey } = draft;
    if (clientKey === undefined) return false;
    const record = await Message.findOne({ chatNo, senderNo: state[side], clientKey }).lean();
    if (!record) return false;
    // Another process may have stored it.
    if (record.seq > state.seq) this.#deps.states.forget(chatNo);
    resolve({ record, state, repeated: true });
    return true;
  }
}
