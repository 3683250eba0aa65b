import type { Actor } from '../kernel/actor.js';
import type { MessagePayload } from '../kernel/live.js';
import { requireParticipant } from './chat.policy.js';
import type { ChatDeps } from './chat-deps.js';
import { markStateRead } from './mark-read.js';
import { Message, type MessageRecord } from './message.model.js';
import { presentPayload } from './message.presenter.js';
import { other } from './room.model.js';
import { unreadOf } from './room-states.js';

/** Most messages one join catches up. (contract, section 5) */
const MAX_CAUGHT_UP = 500;

/**
 * Most bytes of text in one join: a quarter of what a reader may lag before it is closed (gateway/server).
 * More at once would close a client on a slow line each time it came back.
 */
const MAX_CAUGHT_UP_BYTES = 256 * 1024;

/** As many of the first ones as fit, and always one. */
function fitting(records: MessageRecord[]): MessageRecord[] {
  let bytes = 0;
  const end = records.findIndex(({ content }) => {
    bytes += Buffer.byteLength(JSON.stringify(content));
    return bytes > MAX_CAUGHT_UP_BYTES;
  });
  return end < 0 ? records : records.slice(0, Math.max(1, end));
}

export interface Entered {
  /** Oldest first. */
  messages: MessagePayload[];
  /** True when `messages` does not hold all that was asked for. */
  more: boolean;
  /** Number of the room's newest message. */
  seq: number;
  /** Numbers of the members present. */
  present: number[];
  /** Up to which number the other participant has read. */
  otherRead: { memberNo: number; seq: number };
}

/**
 * Records after a number, oldest first, up to the newest one known; without a number the newest, oldest
 * first. One more than shown.
 */
async function missed(chatNo: number, after: number | undefined, upTo: number): Promise<MessageRecord[]> {
  if ((after ?? 0) >= upTo) return [];
  if (after !== undefined) {
    return Message.find({ chatNo, seq: { $gt: after, $lte: upTo } })
      .sort({ seq: 1 })
      .limit(MAX_CAUGHT_UP + 1)
      .lean();
  }
  const newest = await Message.find({ chatNo, seq: { $lte: upTo } })
    .sort({ seq: -1 })
    .limit(MAX_CAUGHT_UP + 1)
    .lean();
  return newest.reverse();
}

/**
 * A connection has entered a room: it is present, has read everything, and gets what it missed up to
 * `seq`; whoever delivers to it goes on behind that number.
 *
 * To be called once the connection is subscribed to the room and before anything is delivered to it:
 * what is written in between is then either read here or delivered afterwards.
 *
 * @param after the last number the client has; without it, it gets the newest messages
 * @param connection id of the connection, for presence
 * @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN
 */
export async function enterRoom(
  deps: ChatDeps,
  actor: Actor,
  chatNo: number,
  after: number | undefined,
  connection: string,
): Promise<Entered> {
  const { states, presence, live, directory } = deps;
  const side = requireParticipant(await states.get(chatNo), actor.no);
  await presence.enter(chatNo, actor.no, connection);
  // Read after they count as present: who sends from here on marks the message read by itself.
  const state = await states.load(chatNo);
  const { seq } = state;
  const [records, people, present] = await Promise.all([
    missed(chatNo, after, seq),
    directory.lookUp([state.creator, state.joiner]),
    presence.list(chatNo),
  ]);
  // Behind one's own last messages there is nothing to read: who comes back to them costs no write. And a
  // connection that is gone by now shows nothing to anybody.
  if (unreadOf(state, side) > 0 && live.isInRoom(chatNo, connection)) {
    await markStateRead(deps, state, actor.no, seq);
  }
  const shown =
    after === undefined
      ? fitting(records.slice(-MAX_CAUGHT_UP).reverse()).reverse()
      : fitting(records.slice(0, MAX_CAUGHT_UP));
  const more = shown.length < records.length;
  return {
    messages: shown.map((record) => presentPayload(record, state, people.get(record.senderNo))),
    more,
    seq,
    present,
    otherRead: { memberNo: state[other(side)], seq: state.read[other(side)].seq },
  };
}
