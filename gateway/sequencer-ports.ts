import type { MessagePayload, ReadPosition, RoomHead } from '../domain/kernel/live.js';

/** What the sequencer works with. */
export interface SequencerPorts {
  /** The stored messages of a room after a number, oldest first, at most some hundreds. */
  read(chatNo: number, after: number): Promise<MessagePayload[]>;
  /** The numbers of these rooms in the database. */
  heads(chatNos: number[]): Promise<RoomHead[]>;
  /** Somebody is about to enter a room that is not followed yet. @returns its numbers as far as they are known */
  entering(chatNo: number): RoomHead | undefined;
  /** Sends a stored message to this process's sockets in its room, but for one of them. */
  emit(payload: MessagePayload, exceptSocket?: string): void;
  /** Whether a socket of this process is in the room. */
  isOccupied(chatNo: number): boolean;
  /** Called with every number this process delivers that another one wrote. */
  heard(payload: MessagePayload): void;
  /** Called with every read position that is told of a room, once its messages have been delivered. */
  heardRead(chatNo: number, position: ReadPosition): void;
  /** Tells a read position to this process's sockets in the room, who have not heard of it. */
  emitRead(chatNo: number, position: ReadPosition): void;
  /** Called with the numbers of a room that was compared with the database. */
  compared(head: RoomHead): void;
  /** Counts a message that had to be read from the database because its push did not come. */
  filled(): void;
}
