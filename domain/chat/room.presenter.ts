import type { Actor } from '../kernel/actor.js';
import type { RoomView } from '../kernel/live.js';
import type { Side } from './room.model.js';
import { type RoomState, unreadOf } from './room-states.js';

/**
 * A room as one participant sees it, the same for the room list and the `room` event.
 *
 * @param side whose view it is
 * @param participant the other party; undefined when they are gone
 */
export function presentRoom(
  state: RoomState,
  side: Side,
  participant: Actor | undefined,
  saleTitle: string,
): RoomView {
  return {
    chatNo: state.chatNo,
    createMember: state.creator,
    joinMember: state.joiner,
    saleNo: state.saleNo,
    saleTitle,
    regDate: state.createdAt.getTime(),
    participant: { username: participant?.nickname ?? '', profile: participant?.profile ?? '' },
    ...(state.latest
      ? { latestMessage: { context: state.latest.content, sendAt: state.latest.sentAt.getTime() } }
      : {}),
    unReadCount: unreadOf(state, side),
  };
}
