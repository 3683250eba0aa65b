import type { MessagePayload, ReadPosition, RoomHead } from '../../domain/kernel/live.js';
import type { Logger } from '../../domain/platform/observe/logger.js';

/** How far a member has read, as sockets are told. */
export type ToldRead = Pick<ReadPosition, 'memberNo' | 'seq'>;

/** What a socket that enters a room has read: up to which number, and how far the other member has. */
export interface Entering {
  seq: number;
  otherRead?: ReadPosition;
}

/** What the sequencer needs. */
export interface SequencerDeps {
  /** The stored messages of a room after a number, oldest first, at most some hundreds. */
  read(chatNo: number, after: number): Promise<MessagePayload[]>;
  /** A socket is about to enter a room. @returns the room's numbers as far as they are known */
  entering(chatNo: number): RoomHead | undefined;
  /** Whether a socket of this process is in the room. */
  isOccupied(chatNo: number): boolean;
  /** Sends a message to this process's sockets in its room, except one. */
  emit(payload: MessagePayload, exceptSocket?: string): void;
  /** Sends a read position to this process's sockets in the room. */
  emitRead(chatNo: number, position: ToldRead): void;
  /** Called with every message that was read from the database to be delivered. */
  noteMessage(payload: MessagePayload): void;
  /** Called with every read position, once its messages are delivered. */
  noteRead(chatNo: number, position: ReadPosition): void;
  /** Called with every message that was read from the database because its push did not arrive. */
  filled(chatNo: number): void;
  logger: Logger;
}
