import type { Actor } from '../kernel/actor.js';
import { fitting } from '../kernel/list-size.js';
import type { MessagePayload, ReadPosition } from '../kernel/live.js';
import type { ChatDeps } from './chat-deps.js';
import { markStateRead } from './mark-read.js';
import { type MessageRecord, readMessages } from './message.model.js';
import { presentPayload } from './message.presenter.js';
import { other, requireParticipant } from './room.model.js';
import { unreadOf } from './room-states.js';

/** Most messages in the answer to one join. (contract, section 5) */
const MAX_CAUGHT_UP = 500;

/**
 * Most bytes of text in the answer to one join: a quarter of the lag at which a reader is closed
 * (gateway/engineio-internals.ts). More would close a client on a slow network each time it reconnects.
 */
const MAX_CAUGHT_UP_BYTES = 256 * 1024;

const fittingText = (records: MessageRecord[]): MessageRecord[] =>
  fitting(records, MAX_CAUGHT_UP_BYTES, ({ content }) => content);

export interface Entered {
  /** Oldest first. */
  messages: MessagePayload[];
  /** True if `messages` does not hold everything that was missed. */
  more: boolean;
  /** Number of the room's newest message. */
  seq: number;
  /** Numbers of the members present. */
  present: number[];
  /** The other participant's read position. */
  otherRead: ReadPosition;
}

/**
 * Records after a number, or without one the newest, up to `upTo`; oldest first, and one more than fits into
 * an answer.
 */
async function readMissed(chatNo: number, after: number | undefined, upTo: number): Promise<MessageRecord[]> {
  if ((after ?? 0) >= upTo) return [];
  const limit = MAX_CAUGHT_UP + 1;
  if (after !== undefined) return readMessages(chatNo, 'oldest', { after, upTo, limit });
  return (await readMessages(chatNo, 'newest', { upTo, limit })).reverse();
}

/**
 * A connection enters a room: it counts as present, everything is marked read, and the answer holds what it
 * missed up to `seq`; messages after that number are delivered as they come.
 *
 * Call it once the connection has joined the room and before anything is delivered to it: what is
 * written in between is read here, or else pushed, or found by the comparison with the database.
 *
 * @param after the last number the client has; without it, the newest messages are returned
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
  // Read once the member counts as present: messages sent from here on are stored as read.
  const state = await states.load(chatNo);
  const { seq } = state;
  const [records, people, present] = await Promise.all([
    readMissed(chatNo, after, seq),
    directory.lookUp([state.creator, state.joiner]),
    presence.list(chatNo),
  ]);
  // Not if the connection has closed meanwhile: it shows nothing.
  if (unreadOf(state, side) > 0 && live.isInRoom(chatNo, connection)) {
    await markStateRead(deps, state, actor.no, seq);
  }
  const shown =
    after === undefined
      ? fittingText(records.slice(-MAX_CAUGHT_UP).reverse()).reverse()
      : fittingText(records.slice(0, MAX_CAUGHT_UP));
  const more = shown.length < records.length;
  return {
    messages: shown.map((record) => presentPayload(record, state, people.get(record.senderNo))),
    more,
    seq,
    present,
    otherRead: { memberNo: state[other(side)], ...state.read[other(side)] },
  };
}
