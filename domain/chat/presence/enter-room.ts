import type { Actor } from '../../kernel/actor.js';
import type { MessagePayload } from '../../kernel/live.js';
import { requireParticipant } from '../chat.policy.js';
import type { ChatDeps } from '../chat-deps.js';
import { markStateRead } from '../messages/mark-read.js';
import { Message, type MessageRecord } from '../messages/message.model.js';
import { presentPayload } from '../messages/message.presenter.js';
import type { RoomState } from '../rooms/room-states.js';

/** Most messages one join catches up. (contract, section 5) */
const MAX_CAUGHT_UP = 500;

export interface Entered {
  /** Oldest first. */
  messages: MessagePayload[];
  /** True when `messages` does not hold all that was asked for. */
  more: boolean;
  /** Number of the room's newest message. */
  seq: number;
  /** Numbers of the members present. */
  present: number[];
}

/** Records after a number, oldest first; without one the newest, oldest first. One more than shown. */
async function missed(chatNo: number, after: number | undefined): Promise<MessageRecord[]> {
  if (after !== undefined) {
    return Message.find({ chatNo, seq: { $gt: after } })
      .sort({ seq: 1 })
      .limit(MAX_CAUGHT_UP + 1)
      .lean();
  }
  const newest = await Message.find({ chatNo })
    .sort({ seq: -1 })
    .limit(MAX_CAUGHT_UP + 1)
    .lean();
  return newest.reverse();
}

/**
 * A connection enters a room: from its answer on, it sees every message in order without a gap.
 *
 * The subscription is made with no send of this room in between, and what was missed is read after it
 * stands: nothing can fall between the two, and nothing comes twice (in this process; a client that
 * hears from another one drops numbers it has).
 *
 * @param after the last number the client has; without it, it gets the newest messages
 * @param connection id of the connection, for presence
 * @param subscribe makes the connection receive the room's events
 * @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN
 */
export async function enterRoom(
  deps: ChatDeps,
  actor: Actor,
  chatNo: number,
  after: number | undefined,
  connection: string,
  subscribe: () => void | Promise<void>,
): Promise<Entered> {
  const { states, ledger, presence, live, directory } = deps;
  requireParticipant(await states.get(chatNo), actor.no);

  return ledger.exclusively(chatNo, async () => {
    await subscribe();
    const arrived = await presence.enter(chatNo, actor.no, connection);
    const state: RoomState = await states.load(chatNo);
    const [records, people, present] = await Promise.all([
      missed(chatNo, after),
      directory.lookUp([state.creator, state.joiner]),
      presence.list(chatNo),
    ]);
    await markStateRead(deps, state, actor.no, state.seq);
    if (arrived) live.presence(chatNo, actor.no, true);
    const more = records.length > MAX_CAUGHT_UP;
    const shown = after === undefined ? records.slice(-MAX_CAUGHT_UP) : records.slice(0, MAX_CAUGHT_UP);
    return {
      messages: shown.map((record) => presentPayload(record, state, people.get(record.senderNo))),
      more,
      seq: state.seq,
      present,
    };
  });
}
