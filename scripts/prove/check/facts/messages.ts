import type { Fail, Header, Info, SeenMessage } from '../../history.js';
import type { Asked } from '../rule.js';
import type { View } from './views.js';

/** A message that a client has asked for, and what has been seen of it. Some 500 bytes with its texts. */
export interface SentMessage {
  readonly room: RoomRecord;
  readonly sender: number;
  readonly key: string;
  readonly content: string;
  /** Undefined: `text`. Others are notified by a word for what they are, such as `[image]`. */
  readonly type: string | undefined;
  /** The process that was asked to store it; undefined after a second attempt. */
  process: string | undefined;
  /** When the first attempt began. */
  readonly askedAt: number;
  /** Attempts without outcome. */
  open: number;
  attempts: number;
  /** Whether the outcome of an attempt is unknown. */
  uncertain: boolean;
  /** Whether every attempt so far was refused. */
  refused: boolean;
  ackedAt?: number;
  /** By the first who saw it. */
  id?: string;
  seq?: number;
  /** When it was sent, epoch ms. */
  at?: number;
  /** When it was acknowledged or first shown to somebody. */
  seenAt?: number;
  /** When it was first seen to be read. */
  readAt?: number;
  /** When the last read began that showed it as the newest of its room. */
  headAt?: number;
  /** The one that a list showed before it; null if a list showed that there is none. */
  previous?: SentMessage | null;
  /** Whether the recipient was away from before it was asked for until it was acknowledged. */
  absent?: boolean;
  /** The recipient's socket that was in the room all that time, as its client saw it. */
  present?: View | undefined;
  /** The notification of it. */
  notification?: number;
}

export interface RoomRecord {
  readonly no: number;
  readonly members: readonly [number, number];
  /** By number; nothing at 0. */
  readonly bySeq: (SentMessage | undefined)[];
  /** The highest number that was seen. */
  head: number;
  /** Messages that may be stored, and that are acknowledged, by sender. */
  readonly attempted: Map<number, number>;
  readonly acked: Map<number, number>;
  /** When the last read began that showed no message. */
  emptyAt: number;
}

/** Somebody was shown a message, or was acknowledged one. */
export interface Sighting {
  t: number;
  room: number;
  seen: SeenMessage;
  /** Undefined: nobody has sent this content. */
  message: SentMessage | undefined;
  by: 'acknowledgement' | 'join' | 'list' | 'push';
  client: string;
  /** When what showed it was asked for; of a push, when it came. */
  askedAt: number;
}

const raise = (counts: Map<number, number>, member: number, by: number): void =>
  void counts.set(member, (counts.get(member) ?? 0) + by);

/** All messages of a run. The first sighting of each gives its id and number; rules compare the others to it. */
export class Messages {
  readonly rooms = new Map<number, RoomRecord>();
  readonly #byContent = new Map<string, SentMessage>();
  readonly #byId = new Map<string, SentMessage>();

  open({ rooms }: Header): void {
    for (const { room, creator, joiner } of rooms) this.#add(room, [creator, joiner]);
  }

  #add(no: number, members: readonly [number, number]): RoomRecord {
    const room: RoomRecord = {
      no,
      members,
      bySeq: [],
      head: 0,
      attempted: new Map(),
      acked: new Map(),
      emptyAt: Number.NEGATIVE_INFINITY,
    };
    this.rooms.set(no, room);
    return room;
  }

  room(no: number): RoomRecord {
    return this.rooms.get(no) ?? this.#add(no, [0, 0]);
  }

  get size(): number {
    return this.#byContent.size;
  }

  all(): IterableIterator<SentMessage> {
    return this.#byContent.values();
  }

  byContent(content: string): SentMessage | undefined {
    return this.#byContent.get(content);
  }

  byId(id: string): SentMessage | undefined {
    return this.#byId.get(id);
  }

  /** @returns the message, and whether it is asked for the first time */
  ask({ room: no, member, key, content, type, process, t }: Asked<'send'>): {
    message: SentMessage;
    isFirst: boolean;
  } {
    const known = this.#byContent.get(content);
    if (known) {
      known.open += 1;
      known.attempts += 1;
      known.process = undefined;
      if (known.refused) raise(known.room.attempted, member, 1);
      known.refused = false;
      return { message: known, isFirst: false };
    }
    const room = this.room(no);
    const message: SentMessage = {
      room,
      sender: member,
      key,
      content,
      type,
      process,
      askedAt: t,
      open: 1,
      attempts: 1,
      uncertain: false,
      refused: false,
    };
    this.#byContent.set(content, message);
    raise(room.attempted, member, 1);
    return { message, isFirst: true };
  }

  ack(message: SentMessage, t: number): void {
    message.open -= 1;
    if (message.ackedAt !== undefined) return;
    message.ackedAt = t;
    raise(message.room.acked, message.sender, 1);
  }

  miss(message: SentMessage, { e }: Fail | Info): void {
    message.open -= 1;
    if (e === 'info') message.uncertain = true;
    const { open, uncertain, ackedAt, room, sender } = message;
    message.refused = open === 0 && !uncertain && ackedAt === undefined;
    if (message.refused) raise(room.attempted, sender, -1);
  }

  /** Learns from a sighting what is not known yet. */
  see({ message, seen, t, askedAt, room }: Sighting): void {
    if (!message || message.room.no !== room) return;
    message.seenAt ??= t;
    message.at ??= seen.at;
    if (message.id === undefined) {
      message.id = seen.id;
      this.#byId.set(seen.id, message);
    }
    if (seen.readCount === 0) message.readAt ??= t;
    if (seen.seq === undefined || askedAt > t || !canBeNumber(message.room, seen.seq)) return;
    message.seq ??= seen.seq;
    message.room.bySeq[seen.seq] ??= message;
    if (seen.seq > message.room.head) message.room.head = seen.seq;
  }

  /** A read that began at `askedAt` showed this message as the newest of its room; null: none; undefined: an unknown one. */
  showHead(room: RoomRecord, message: SentMessage | null | undefined, askedAt: number): void {
    if (message) message.headAt = Math.max(message.headAt ?? askedAt, askedAt);
    else if (message === null) room.emptyAt = Math.max(room.emptyAt, askedAt);
  }
}

/** The other party of a room. */
export const otherOf = ({ members: [author, asker] }: RoomRecord, member: number): number =>
  member === author ? asker : author;

/** Of both members. */
function sum(counts: Map<number, number>): number {
  let sum = 0;
  for (const one of counts.values()) sum += one;
  return sum;
}

/** Acknowledged messages of a room, of both. */
export const ackedIn = ({ acked }: RoomRecord): number => sum(acked);

/** Most numbers of a room that are followed beyond those of the messages that may be in it: holes, a message each. */
const MAX_BEYOND = 1_000;

/** Whether a message can have this number, or one near it; others are not followed: memory is limited. */
export const canBeNumber = ({ attempted }: RoomRecord, seq: number): boolean =>
  seq > 0 && seq <= sum(attempted) + MAX_BEYOND;

/** A message as violations print it. */
export const nameOf = ({ id, seq, content }: Pick<SeenMessage, 'content'> & Partial<SeenMessage>): string =>
  `"${content.slice(0, 60)}" (number ${seq ?? '?'}, id ${id ?? '?'})`;
