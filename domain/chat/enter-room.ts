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
export const MAX_CAUGHT_UP = 500;

/**
 * Most bytes of text in the answer to one join: a quarter of the lag at which a reader is closed
 * (gateway/engine/engineio-internals.ts). More would close a client on a slow network each time it reconnects.
 */
export const MAX_CAUGHT_UP_BYTES = 256 * 1024;

const fittingText = (records: MessageRecord[]): MessageRecord[] =>
  fitting(records, MAX_CAUGHT_UP_BYTES, ({ content }) => content);

/** What a client has of a room. */
export interface Had {
  /** The last number. */
  after?: number | undefined;
  /** Identifier of the message with that number, by which a room that was restored is told apart. */
  afterId?: string | undefined;
}

export interface Entered {
  /** Oldest first. */
  messages: MessagePayload[];
  /** What `messages` are: those after the number that the client has, or the newest, whatever it has. */
  from: 'after' | 'newest';
  /** Whether there are more than `messages`: newer ones, or with `newest` older ones. */
  more: boolean;
  /** Number of the room's newest message. */
  seq: number;
  /** Numbers of the members present. */
  present: number[];
  /** The other participant's read position. */
  otherRead: ReadPosition;
}

/**
 * Records after the number that a client has, up to `upTo`; oldest first, and one more than fits into an answer.
 * @returns undefined if the room is not the one that the client knows: numbers have begun anew, as after a restore
 */
async function readAfterHad(
  chatNo: number,
  { after, afterId }: Had,
  upTo: number,
): Promise<MessageRecord[] | undefined> {
  if (after === undefined || after > upTo) return undefined;
  const isNamed = afterId !== undefined && after > 0;
  if (after === upTo && !isNamed) return [];
  const limit = MAX_CAUGHT_UP + 1;
  if (!isNamed) return readMessages(chatNo, 'oldest', { after, upTo, limit });
  const [had, ...missed] = await readMessages(chatNo, 'oldest', { after: after - 1, upTo, limit: limit + 1 });
  return had?._id === afterId ? missed : undefined;
}

/** The messages to answer a join with, up to number `upTo`, and one more than an answer holds: it tells that there are more. */
async function readMissed(
  chatNo: number,
  had: Had,
  upTo: number,
): Promise<Pick<Entered, 'from'> & { records: MessageRecord[] }> {
  const missed = await readAfterHad(chatNo, had, upTo);
  if (missed) return { from: 'after', records: missed };
  if (upTo === 0) return { from: 'newest', records: [] };
  const newest = await readMessages(chatNo, 'newest', { upTo, limit: MAX_CAUGHT_UP + 1 });
  return { from: 'newest', records: newest.reverse() };
}

/**
 * A connection enters a room: it counts as present, everything is marked read, and the answer holds what it
 * missed up to `seq`; messages after that number are delivered as they come.
 *
 * Call it once the connection has joined the room and before anything is delivered to it: what is
 * written in between is read here, or else pushed, or found by the comparison with the database.
 *
 * @param had what the client has; without it, or if numbers have begun anew since, the newest messages are returned
 * @param connection id of the connection, for presence
 * @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN
 */
export async function enterRoom(
  deps: ChatDeps,
  actor: Actor,
  chatNo: number,
  had: Had,
  connection: string,
): Promise<Entered> {
  const { states, presence, live, directory } = deps;
  const side = requireParticipant(await states.get(chatNo), actor.no);
  await presence.enter(chatNo, actor.no, connection);
  // Read once the member counts as present: messages sent from here on are stored as read.
  const state = await states.load(chatNo);
  const { seq } = state;
  const [{ from, records }, people, present] = await Promise.all([
    readMissed(chatNo, had, seq),
    directory.lookUp([state.creator, state.joiner]),
    presence.list(chatNo),
  ]);
  // Not if the connection has closed meanwhile: it shows nothing.
  if (unreadOf(state, side) > 0 && live.isInRoom(chatNo, connection)) {
    await markStateRead(deps, state, actor.no, seq);
  }
  const shown =
    from === 'newest'
      ? fittingText(records.slice(-MAX_CAUGHT_UP).reverse()).reverse()
      : fittingText(records.slice(0, MAX_CAUGHT_UP));
  const more = shown.length < records.length;
  return {
    messages: shown.map((record) => presentPayload(record, state, people.get(record.senderNo))),
    from,
    more,
    seq,
    present,
    otherRead: { memberNo: state[other(side)], ...state.read[other(side)] },
  };
}
