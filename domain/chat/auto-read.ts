import type { MessagePayload } from '../kernel/live.js';
import type { Logger } from '../platform/observe/logger.js';
import type { Presence } from './presence.js';
import type { RoomState, RoomStates } from './room-states.js';

/**
 * Marks messages read that are delivered here to a member who has the room open, although the process that
 * wrote them recorded the member as absent: while Redis is down it cannot know. (contract, section 5)
 *
 * @returns a function to be called with each message delivered to this process's sockets, in order of `seq`
 */
export function createAutoRead(
  states: RoomStates,
  presence: Pick<Presence, 'isHere'>,
  markRead: (state: RoomState, memberNo: number, seq: number) => Promise<void>,
  logger: Logger,
): (payload: MessagePayload) => void {
  /** The newest unread message by room and sender. */
  const delivered = new Map<string, MessagePayload>();

  async function mark({ chatNo, senderNo, seq }: MessagePayload): Promise<void> {
    const state = await states.get(chatNo);
    const recipientNo = senderNo === state.creator ? state.joiner : state.creator;
    if (presence.isHere(chatNo, recipientNo)) await markRead(state, recipientNo, seq);
  }

  async function markAll(): Promise<void> {
    const newest = [...delivered.values()];
    delivered.clear();
    for (const payload of newest) {
      try {
        await mark(payload);
      } catch (error) {
        logger.warn({ err: error, chatNo: payload.chatNo }, 'delivered messages stay unread');
      }
    }
  }

  return (payload) => {
    if (payload.readCount === 0) return;
    // One write for all messages of this turn of the event loop: they may fill a long gap.
    if (delivered.size === 0) setImmediate(() => void markAll());
    delivered.set(`${payload.chatNo} ${payload.senderNo}`, payload);
  };
}
