import type { MessagePayload, ReadPosition } from '../domain/kernel/live.js';
import type { Logger } from '../domain/platform/logger.js';
import { SerialQueue } from '../domain/platform/serial-queue.js';
import type { SequencerPorts } from './sequencer-ports.js';

interface Room {
  /** The last number given to this process's sockets; -1 while nobody is in. */
  last: number;
  /** Pushes that came out of turn, or while the room was held. */
  waiting: Map<number, () => void>;
  /** Up to which number each member is known, to this process's sockets, to have read everything. */
  reads: Map<number, number>;
  /** Read positions that came before their message or while the room was held: the furthest of each member. */
  waitingReads: Map<number, { position: ReadPosition; deliver: () => void }>;
  /** Changes of who is present that came while the room was held, in order. */
  waitingPresence: (() => void)[];
  /** How many tasks hold or want to hold the room. */
  holders: number;
  tasks: SerialQueue;
}

/** How often a gap is read before what waits behind it is dropped. */
const MAX_READS = 5;

/** Time, in ms, between two such reads. */
const READ_AGAIN_MS = 100;

/** Time, in ms, until a room is read on that could not be. */
const AFTER_FAILURE_MS = 1_000;

/** Most pushes of one room that wait; those past it are read from the database in their turn. */
const MAX_WAITING = 1_000;

/** Rooms asked for in one look at the heads. */
const HEADS_AT_ONCE = 500;

/** Time, in ms, until rooms are compared where a push was lost: others may have been lost with it. */
const COMPARE_FILLED_MS = 200;

/**
 * Gives each room's messages to this process's sockets in `seq` order, each once, whichever process
 * wrote them. A push is a hint: the next number is passed on as it is, an older one is dropped, and a
 * jump is filled from the database before going on. Read positions only rise, and none is told before the
 * message that it reaches to. (contract, promise 5)
 *
 * Only rooms that a socket of this process is in are followed.
 */
export interface Sequencer {
  /** A push has arrived; `deliver` passes it on as it came, which is cheaper than `emit`. */
  offer(payload: MessagePayload, deliver: () => void): void;
  /** The same for a read position. */
  offerRead(chatNo: number, position: ReadPosition, deliver: () => void): void;
  /**
   * A change of who is present is to be passed on: behind the answers of those who are entering the room at this
   * moment, which tell who was present before it.
   */
  offerPresence(chatNo: number, deliver: () => void): void;
  /**
   * Runs the task that lets a socket into a room while nothing of the room is delivered here, so that
   * what the task reads and what is delivered afterwards meet without gap or repeat.
   *
   * @param task lets the socket in, reads what it missed, and tells the newest number it has read
   */
  enter<T extends { seq: number }>(chatNo: number, socketId: string, task: () => Promise<T>): Promise<T>;
  /** The last socket has left the room. */
  leave(chatNo: number): void;
  /** Whether everything that is told of the room is heard here. */
  follows(chatNo: number): boolean;
  /** Compares all rooms with the database and fills what is missing: after an outage, and every now and then. */
  compare(): Promise<void>;
}

export function createSequencer(ports: SequencerPorts, logger: Logger): Sequencer {
  const rooms = new Map<number, Room>();
  /** Rooms to be compared because a push was lost. */
  const filled = new Set<number>();

  /** Notes that the next message has been passed on. */
  function passed(room: Room, { seq, senderNo, readCount }: MessagePayload): void {
    room.last = seq;
    // Who has read everything before it has read everything with it, if it is read or their own.
    for (const [memberNo, upTo] of room.reads) {
      if (upTo === seq - 1 && (readCount === 0 || senderNo === memberNo)) room.reads.set(memberNo, seq);
    }
  }

  /** Passes on a read position that is behind no message any more, if the sockets have not heard of it. */
  function passRead(room: Room, chatNo: number, position: ReadPosition, deliver: () => void): void {
    ports.heardRead(chatNo, position);
    const { memberNo, seq } = position;
    if (seq <= (room.reads.get(memberNo) ?? 0)) return;
    room.reads.set(memberNo, seq);
    deliver();
  }

  /** Passes on what waits, as far as the numbers go on. */
  function release(room: Room, chatNo: number): void {
    for (const seq of room.waiting.keys()) if (seq <= room.last) room.waiting.delete(seq);
    for (;;) {
      const deliver = room.waiting.get(room.last + 1);
      if (!deliver) break;
      room.waiting.delete(room.last + 1);
      deliver();
    }
    for (const [memberNo, { position, deliver }] of room.waitingReads) {
      if (position.seq > room.last) continue;
      room.waitingReads.delete(memberNo);
      passRead(room, chatNo, position, deliver);
    }
  }

  /** Holds a room for the time of a task; tasks of one room go one after another. */
  async function hold<T>(room: Room, chatNo: number, task: () => Promise<T>): Promise<T> {
    room.holders += 1;
    let failed = true;
    try {
      const result = await room.tasks.add(task);
      failed = false;
      return result;
    } finally {
      // In a turn of its own: what the task answers its client leaves before anything that waited.
      setImmediate(() => {
        room.holders -= 1;
        if (room.holders === 0) letGo(room, chatNo, failed);
      });
    }
  }

  function letGo(room: Room, chatNo: number, failed: boolean): void {
    // Nobody came in after all, or everybody has left meanwhile; the last may have gone in the middle of
    // a task, which then has set a number again.
    if (room.last < 0 || !ports.isOccupied(chatNo)) {
      rooms.delete(chatNo);
      return;
    }
    release(room, chatNo);
    for (const deliver of room.waitingPresence.splice(0)) deliver();
    if (failed) {
      // The database did not answer, most likely: what waits is read once it does.
      setTimeout(() => fillLater(room, chatNo), AFTER_FAILURE_MS).unref();
    } else if (room.waiting.size > 0 || room.waitingReads.size > 0) {
      fillLater(room, chatNo);
    }
  }

  /** Reads what comes after the last number, up to a number, and passes it on. The room is held. */
  async function readOn(room: Room, chatNo: number, upTo: number, exceptSocket?: string): Promise<void> {
    while (room.last < upTo) {
      const payloads = await ports.read(chatNo, room.last);
      // Left meanwhile: there is nobody to pass it on to.
      if (room.last < 0) return;
      for (const payload of payloads) {
        if (payload.seq > upTo) break;
        passed(room, payload);
        ports.filled();
        compareSoon(chatNo);
        ports.heard(payload);
        ports.emit(payload, exceptSocket);
      }
      if (payloads.length === 0) return;
    }
  }

  async function fill(room: Room, chatNo: number): Promise<void> {
    for (let attempt = 0; attempt < MAX_READS; attempt += 1) {
      if (room.last < 0) return;
      await readOn(room, chatNo, Number.MAX_SAFE_INTEGER);
      release(room, chatNo);
      if (room.waiting.size === 0 && room.waitingReads.size === 0) return;
      await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
    }
    // Numbers have no holes, so a push ahead of what the database shows is a forged or a broken one.
    const waiting = [
      ...room.waiting.keys(),
      ...[...room.waitingReads.values()].map(({ position }) => position.seq),
    ];
    logger.error({ chatNo, last: room.last, waiting }, 'pushes without a record');
    room.waiting.clear();
    room.waitingReads.clear();
  }

  function fillLater(room: Room, chatNo: number): void {
    if (rooms.get(chatNo) !== room) return;
    hold(room, chatNo, () => fill(room, chatNo)).catch((error) =>
      logger.warn({ err: error, chatNo }, 'a room could not be read on; it is tried again'),
    );
  }

  function offerRead(chatNo: number, position: ReadPosition, deliver: () => void): void {
    const room = rooms.get(chatNo);
    if (!room) return;
    const { memberNo, seq } = position;
    if (room.holders === 0 && seq <= room.last) {
      passRead(room, chatNo, position, deliver);
      return;
    }
    const waiting = room.waitingReads.get(memberNo);
    if (!waiting || seq > waiting.position.seq) room.waitingReads.set(memberNo, { position, deliver });
    if (room.holders === 0) fillLater(room, chatNo);
  }

  async function compare(chatNos: number[]): Promise<void> {
    for (let i = 0; i < chatNos.length; i += HEADS_AT_ONCE) {
      for (const head of await ports.heads(chatNos.slice(i, i + HEADS_AT_ONCE))) {
        const { chatNo, seq, reads } = head;
        const room = rooms.get(chatNo);
        if (!room || room.last < 0) continue;
        if (seq > room.last && room.holders === 0) fillLater(room, chatNo);
        for (const read of reads) offerRead(chatNo, read, () => ports.emitRead(chatNo, read));
        ports.compared(head);
      }
    }
  }

  function compareSoon(chatNo: number): void {
    const isScheduled = filled.size > 0;
    filled.add(chatNo);
    if (isScheduled) return;
    setTimeout(() => {
      const chatNos = [...filled];
      filled.clear();
      compare(chatNos).catch((error) =>
        logger.warn({ err: error }, 'rooms were not compared with the database; the next time is soon'),
      );
    }, COMPARE_FILLED_MS).unref();
  }

  return {
    offer(payload, deliver) {
      const room = rooms.get(payload.chatNo);
      if (!room || payload.seq <= room.last) return;
      const pass = () => {
        passed(room, payload);
        deliver();
      };
      if (room.holders === 0 && payload.seq === room.last + 1) {
        pass();
        return;
      }
      if (room.waiting.size < MAX_WAITING) room.waiting.set(payload.seq, pass);
      if (room.holders === 0) fillLater(room, payload.chatNo);
    },

    offerRead,

    offerPresence(chatNo, deliver) {
      const room = rooms.get(chatNo);
      if (room && room.holders > 0) room.waitingPresence.push(deliver);
      else deliver();
    },

    follows: (chatNo) => (rooms.get(chatNo)?.last ?? -1) >= 0,

    async enter(chatNo, socketId, task) {
      const room: Room = rooms.get(chatNo) ?? {
        last: -1,
        waiting: new Map(),
        reads: new Map(),
        waitingReads: new Map(),
        waitingPresence: [],
        holders: 0,
        tasks: new SerialQueue(),
      };
      rooms.set(chatNo, room);
      return hold(room, chatNo, async () => {
        if (room.last < 0) {
          const { reads = [] } = ports.entering(chatNo) ?? {};
          room.reads = new Map(reads.map(({ memberNo, seq }) => [memberNo, seq]));
        }
        const entered = await task();
        // Those who were in before get what the newcomer has read and they have not.
        if (room.last >= 0) await readOn(room, chatNo, entered.seq, socketId);
        room.last = Math.max(room.last, entered.seq);
        return entered;
      });
    },

    leave(chatNo) {
      const room = rooms.get(chatNo);
      if (!room) return;
      room.last = -1;
      // Who comes in next reads what these told of.
      room.waiting.clear();
      room.waitingReads.clear();
      room.waitingPresence = [];
      if (room.holders === 0) rooms.delete(chatNo);
    },

    compare: () => compare([...rooms.keys()]),
  };
}
