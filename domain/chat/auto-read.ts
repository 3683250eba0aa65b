import type { MessagePayload } from '../kernel/live.js';
import type { Logger } from '../platform/logger.js';
import type { Presence } from './presence.js';
import type { RoomState, RoomStates } from './room-states.js';

/**
 * Marks read what this process shows to members who have the room open here, and whom the process that
 * wrote the message took for absent: it could not know while Redis was away. (contract, section 5)
 */
export interface AutoRead {
  /** A message is being delivered to this process's sockets in its room. */
  add(payload: MessagePayload): void;
}

export function createAutoRead(
  states: RoomStates,
  presence: Presence,
  markRead: (state: RoomState, memberNo: number, seq: number) => Promise<void>,
  logger: Logger,
): AutoRead {
  /** The newest unread one shown, by room and sender. */
  const shown = new Map<string, MessagePayload>();

  async function mark({ chatNo, senderNo, seq }: MessagePayload): Promise<void> {
    const state = await states.get(chatNo);
    const recipientNo = senderNo === state.creator ? state.joiner : state.creator;
    if (presence.isHere(chatNo, recipientNo)) await markRead(state, recipientNo, seq);
  }

  async function markAll(): Promise<void> {
    const newest = [...shown.values()];
    shown.clear();
    for (const payload of newest) {
      try {
        await mark(payload);
      } catch (error) {
        logger.warn({ err: error, chatNo: payload.chatNo }, 'shown messages stay unread');
      }
    }
  }

  return {
    add(payload) {
      if (payload.readCount === 0) return;
      // What one turn of the loop delivers, a whole gap as it may be, is one step forward.
      if (shown.size === 0) setImmediate(() => void markAll());
      // They are delivered in the order of their numbers: the last one is the newest.
      shown.set(`${payload.chatNo} ${payload.senderNo}`, payload);
    },
  };
}
