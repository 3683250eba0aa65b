// biome-ignore-all lint/style/noExcessiveLinesPerFile: one class and its steps, which nothing else calls.
import type { MessagePayload, ReadPosition, RoomHead } from '../../domain/kernel/live.js';
import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { SerialQueue } from '../../domain/platform/async/serial-queue.js';
import { lostPushes, SUBSCRIBED_MS } from '../../domain/platform/observe/lost-pushes.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { HeldPushes } from './held-pushes.js';
import { PushedReads } from './pushed-reads.js';
import type { Entering, SequencerDeps } from './sequencer-deps.js';

/** Reads of a gap before the pushes after it are dropped. */
const MAX_READS = 5;

/** Time between two such reads, ms. */
const READ_AGAIN_MS = 100;

/** Time until a failed read is repeated, ms. */
const AFTER_FAILURE_MS = 1_000;

/** Most waiting pushes of one room; the others are read from the database. */
const MAX_WAITING = 1_000;

/** One room that sockets of this process are in. */
class Room {
  readonly #chatNo: number;
  readonly #deps: SequencerDeps;
  readonly #rooms: Map<number, Room>;
  /** Number of the last message delivered; -1 while nobody is in. */
  #last = -1;
  /** Since when somebody is in, by performance.now(). */
  #followedSince = 0;
  readonly #held = new HeldPushes();
  /** Highest number that is said to be stored and was not delivered here; reset when a read begins. */
  #knownUpTo = 0;
  /** Up to which number this process's sockets know each member to have read. */
  #reads = new Map<number, number>();
  readonly #pushed = new PushedReads();
  /** Tasks that hold the room or wait to. */
  #holders = 0;
  /** A read failed while deliveries were paused: the gap has to be filled again. */
  #hasFailed = false;
  #tasks: SerialQueue | undefined;

  /** @param rooms holds this room until nobody is in or enters it */
  constructor(chatNo: number, deps: SequencerDeps, rooms: Map<number, Room>) {
    this.#chatNo = chatNo;
    this.#deps = deps;
    this.#rooms = rooms.set(chatNo, this);
  }

  /** Pushes that wait. */
  get waiting(): number {
    return this.#held.size;
  }

  get isFollowed(): boolean {
    return this.#last >= 0;
  }

  get #isSubscribed(): boolean {
    return performance.now() - this.#followedSince > SUBSCRIBED_MS;
  }

  enter<T extends Entering>(socketId: string, task: () => Promise<T>): Promise<T> {
    return this.#hold(async () => {
      const known = this.#deps.entering(this.#chatNo)?.reads ?? [];
      const entered = await task();
      // Sockets that were in the room before are sent what only the new one has read.
      if (this.isFollowed) await this.#readUpTo(entered.seq, this.#knownUpTo, socketId);
      else {
        this.#followedSince = performance.now();
        this.#reads = new Map(known.map(({ memberNo, seq }) => [memberNo, Math.min(seq, entered.seq)]));
      }
      if (entered.otherRead && entered.seq >= 0) this.#alignRead(entered.otherRead, entered.seq);
      this.#last = Math.max(this.#last, entered.seq);
      return entered;
    });
  }

  /**
   * Brings the joining socket and those already in the room to the same read position.
   * @param upTo the newest message that the joining socket was sent: it was told no position after it
   */
  #alignRead(told: ReadPosition, upTo: number): void {
    const { memberNo, seq } = told;
    if (!this.isFollowed) this.#reads.set(memberNo, Math.min(seq, upTo));
    const known = this.#reads.get(memberNo) ?? 0;
    const emit = (upTo: number) => this.#deps.emitRead(this.#chatNo, { memberNo, seq: upTo });
    if (seq > known) this.#held.addRead(told, () => emit(seq));
    // By then a further one may have been told.
    else if (seq < known) this.#held.addChange(() => emit(this.#reads.get(memberNo) ?? known));
  }

  leave(): void {
    this.#last = -1;
    this.#knownUpTo = 0;
    lostPushes.forget(chatRoom(this.#chatNo));
    this.#pushed.clear();
    // The next socket to enter reads what these refer to.
    this.#held.drop();
    for (const deliver of this.#held.takeChanges()) deliver();
    if (this.#holders === 0) this.#rooms.delete(this.#chatNo);
  }

  offer(payload: MessagePayload, deliver?: () => void): void {
    const { seq } = payload;
    if (seq <= this.#last) {
      lostPushes.came('message', chatRoom(this.#chatNo), seq);
      return;
    }
    if (deliver && this.#holders === 0 && seq === this.#last + 1) {
      this.#advance(payload, deliver);
      return;
    }
    if (deliver && this.#held.messages < MAX_WAITING) {
      this.#held.addMessage(seq, () => this.#advance(payload, deliver));
    } else {
      this.#knownUpTo = Math.max(this.#knownUpTo, seq);
    }
    if (this.#holders === 0) this.#fillGap();
  }

  #advance({ seq, senderNo, readCount, sendTime }: MessagePayload, deliver: () => void): void {
    this.#last = seq;
    // A member who has read everything before it has read this one, too, if it is read or their own.
    for (const [memberNo, upTo] of this.#reads) {
      if (upTo === seq - 1 && (readCount === 0 || senderNo === memberNo)) this.#reads.set(memberNo, seq);
    }
    if (readCount === 0) this.#pushed.noteMessage(senderNo, seq);
    deliver();
    metrics.fanout.observe(Math.max(0, Date.now() - sendTime) / 1_000);
  }

  offerRead(position: ReadPosition, deliver: () => void): void {
    if (this.#holders === 0 && position.seq <= this.#last) {
      this.#passRead(position, deliver);
      return;
    }
    this.#held.addRead(position, deliver);
    if (this.#holders === 0) this.#fillGap();
  }

  /** Delivers a read position whose message has been delivered, unless the sockets know it. */
  #passRead(position: ReadPosition, deliver: () => void): void {
    this.#deps.noteRead(this.#chatNo, position);
    const { memberNo, seq } = position;
    if (seq <= (this.#reads.get(memberNo) ?? 0)) return;
    this.#reads.set(memberNo, seq);
    deliver();
    this.#pushed.noteRead(memberNo);
  }

  offerChange(deliver: () => void): void {
    if (this.#holders > 0) this.#held.addChange(deliver);
    else deliver();
  }

  compare({ seq, reads }: RoomHead): void {
    // While the room is held, what is read may be older.
    if (this.#holders > 0) this.#knownUpTo = Math.max(this.#knownUpTo, seq);
    else if (seq > this.#last) this.#fillGap();
    for (const read of reads) {
      // One that waits may be told after its push has come.
      const isTold = this.#holders === 0 && read.seq <= this.#last;
      this.offerRead(read, () => {
        this.#deps.emitRead(this.#chatNo, read);
        if (isTold && this.#isSubscribed && this.#pushed.lacks(read))
          lostPushes.mended('read', chatRoom(this.#chatNo), read.memberNo, { seq: read.seq });
      });
    }
  }

  /** Runs a task while nothing is delivered; tasks run one after another. */
  async #hold<T>(task: () => Promise<T>): Promise<T> {
    this.#holders += 1;
    try {
      this.#tasks ??= new SerialQueue();
      return await this.#tasks.add(task);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      // In the next turn: the task's answer leaves before anything that waited.
      setImmediate(() => this.#letGo());
    }
  }

  #letGo(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.#tasks = undefined;
    // Not if nobody entered, or everybody has left, perhaps in the middle of a task that then set a number again.
    const isOpen = this.isFollowed && this.#deps.isOccupied(this.#chatNo);
    if (isOpen) this.#deliverWaiting();
    else this.#rooms.delete(this.#chatNo);
    // Also if nobody is in: a member's list shows the room's state, too, and no comparison finds it then.
    for (const deliver of this.#held.takeChanges()) deliver();
    if (!isOpen) return;
    if (this.#hasFailed) {
      this.#hasFailed = false;
      setTimeout(() => this.#fillGap(), AFTER_FAILURE_MS).unref();
    } else if (this.waiting > 0 || this.#knownUpTo > this.#last) this.#fillGap();
  }

  /** Delivers what waits, up to the first gap. */
  #deliverWaiting(): void {
    for (const deliver of this.#held.takeMessages(this.#last)) deliver();
    for (const { position, deliver } of this.#held.takeReads(this.#last)) this.#passRead(position, deliver);
  }

  #fillGap(): void {
    if (this.#rooms.get(this.#chatNo) !== this) return;
    this.#hold(() => this.#readGap()).catch((error) =>
      this.#deps.logger.warn({ err: error, chatNo: this.#chatNo }, 'a room could not be read; retrying'),
    );
  }

  async #readGap(): Promise<void> {
    for (let attempt = 0; attempt < MAX_READS; attempt += 1) {
      if (!this.isFollowed) return;
      // A message is stored before it is announced: what this read does not find is forged.
      const knownUpTo = this.#knownUpTo;
      this.#knownUpTo = 0;
      await this.#readUpTo(Number.MAX_SAFE_INTEGER, knownUpTo);
      this.#deliverWaiting();
      // What was announced during the read is left to the next task: joins come first.
      if (this.waiting === 0) return;
      await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
    }
    // Numbers have no gaps: what these refer to is not stored, or the database does not show it yet.
    const waiting = this.#held.numbers;
    this.#deps.logger.error(
      { chatNo: this.#chatNo, last: this.#last, waiting },
      'pushes without a record were dropped: what is stored later is found when its process reports the room, or by a comparison',
    );
    metrics.pushesWithoutRecord.inc(waiting.length);
    this.#held.drop();
  }

  /** A message is read whose push has not come. */
  #noteGap(seq: number): void {
    this.#deps.filled(this.#chatNo);
    if (this.#isSubscribed) lostPushes.mended('message', chatRoom(this.#chatNo), seq);
  }

  /**
   * Reads and delivers the messages after the last one, up to a number. The room is held.
   * @param knownUpTo messages up to this number were announced: reading them is not counted as a lost push
   */
  async #readUpTo(upTo: number, knownUpTo: number, exceptSocket?: string): Promise<void> {
    while (this.#last < upTo) {
      const payloads = await this.#deps.read(this.#chatNo, this.#last);
      if (!this.isFollowed) return;
      for (const payload of payloads) {
        if (payload.seq > upTo) break;
        const isKnown = payload.seq <= Math.max(knownUpTo, this.#knownUpTo);
        if (!isKnown && !this.#held.holdsMessage(payload.seq)) this.#noteGap(payload.seq);
        this.#deps.noteMessage(payload);
        this.#advance(payload, () => this.#deps.emit(payload, exceptSocket));
      }
      if (payloads.length === 0) return;
    }
  }
}

/**
 * Delivers each room's messages to this process's sockets in `seq` order, each once, whichever process wrote
 * them. A push is a hint: the next number is delivered at once, an older one is dropped, and a gap is read
 * from the database first. Read positions only rise, and follow the message they refer to. (contract, promise
 * 5) Follows only rooms that a socket of this process is in.
 */
export class Sequencer {
  readonly #deps: SequencerDeps;
  readonly #rooms = new Map<number, Room>();

  constructor(deps: SequencerDeps) {
    this.#deps = deps;
  }

  /**
   * Runs the task that admits a socket to a room, while nothing of the room is delivered here: between what
   * the task reads and what is delivered afterwards there is no gap and no repeat.
   * @param task admits the socket, reads what it missed, and returns the newest number it has read
   */
  enter<T extends Entering>(chatNo: number, socketId: string, task: () => Promise<T>): Promise<T> {
    const room = this.#rooms.get(chatNo) ?? new Room(chatNo, this.#deps, this.#rooms);
    return room.enter(socketId, task);
  }

  /** The last socket has left the room. */
  leave(chatNo: number): void {
    this.#rooms.get(chatNo)?.leave();
  }

  /** Whether the room is followed or being entered. */
  has(chatNo: number): boolean {
    return this.#rooms.has(chatNo);
  }

  /** A push has arrived; `deliver` passes it on. Without it, the message is read from the database. */
  offer(payload: MessagePayload, deliver?: () => void): void {
    this.#rooms.get(payload.chatNo)?.offer(payload, deliver);
  }

  /** A read position has arrived. */
  offerRead(chatNo: number, position: ReadPosition, deliver: () => void): void {
    lostPushes.came('read', chatRoom(chatNo), position.memberNo, { seq: position.seq });
    this.#rooms.get(chatNo)?.offerRead(position, deliver);
  }

  /**
   * A change of presence, or of the room's state, has arrived: it follows the messages that wait, and the answers to joins
   * under way, which show the presence before it. It is delivered also if they fail or everybody leaves.
   */
  offerChange(chatNo: number, deliver: () => void): void {
    const room = this.#rooms.get(chatNo);
    if (room) room.offerChange(deliver);
    else deliver();
  }

  /** The rooms that are followed or being entered. */
  rooms(): number[] {
    return [...this.#rooms.keys()];
  }

  /** Pushes of all rooms that wait for those before them, or for a join under way. */
  get waiting(): number {
    return [...this.#rooms.values()].reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** Compares a room with its numbers in the database and delivers what is missing. @returns whether it is followed */
  compare(head: RoomHead): boolean {
    const room = this.#rooms.get(head.chatNo);
    if (!room?.isFollowed) return false;
    room.compare(head);
    return true;
  }
}
