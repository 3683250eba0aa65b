import type { Adoption } from '../adoption/index.js';
import type { Actor } from '../kernel/actor.js';
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

/** A room as the participants on these sides see it. */
export async function presentTo(
  deps: { directory: MemberDirectory; adoption: Adoption },
  state: RoomState,
  sides: readonly Side[],
): Promise<MarkedView[]> {
  const [people, sale] = await Promise.all([
    deps.directory.lookUp(sides.map((side) => state[other(side)])),
    deps.adoption.findPost(state.saleNo),
  ]);
  return sides.map((side) => ({
    memberNo: state[side],
    view: presentRoom(state, side, people.get(state[other(side)]), sale?.title ?? ''),
    mark: markOf(state, side),
  }));
}
