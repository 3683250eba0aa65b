import type { Adoption } from '../adoption/index.js';
import type { Person } from '../kernel/actor.js';
import type { RoomMark, RoomView } from '../kernel/live.js';
import type { MemberDirectory } from '../members/index.js';
import { other, type Side } from './room.model.js';
import { markOf, type RoomState, unreadOf } from './room-states.js';

/** A room as one participant sees it, with its room mark. */
export interface MarkedView {
  memberNo: number;
  view: RoomView;
  mark: RoomMark;
}

/**
 * A room as one participant sees it, for the room list and the `room` event.
 *
 * @param side whose view it is
 * @param participant the other party; undefined when they are gone
 */
export function presentRoom(
  state: RoomState,
  side: Side,
  participant: Person | undefined,
  saleTitle: string,
): RoomView {
  const { latest } = state;
  return {
    chatNo: state.chatNo,
    createMember: state.creator,
    joinMember: state.joiner,
    saleNo: state.saleNo,
    saleTitle,
    regDate: state.createdAt.getTime(),
    participant: { username: participant?.nickname ?? '', profile: participant?.profile ?? '' },
    ...(latest && { latestMessage: { context: latest.content, sendAt: latest.sentAt.getTime() } }),
    unReadCount: unreadOf(state, side),
  };
}

/** A room as the participants on these sides see it. */
export async function presentTo(
  deps: { directory: MemberDirectory; adoption: Adoption },
  state: RoomState,
  sides: readonly Side[],
): Promise<MarkedView[]> {
  // One after the other: nearly always both are in memory, and waiting for both at once costs more than that.
  const people = await deps.directory.lookUp(sides.map((side) => state[other(side)]));
  const sale = await deps.adoption.findPost(state.saleNo);
  return sides.map((side) => ({
    memberNo: state[side],
    view: presentRoom(state, side, people.get(state[other(side)]), sale?.title ?? ''),
    mark: markOf(state, side),
  }));
}
