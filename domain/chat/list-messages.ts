import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { fitting } from '../kernel/list-size.js';
import type { ChatDeps } from './chat-deps.js';
import { markStateRead } from './mark-read.js';
import { Message, readMessages } from './message.model.js';
import { type MessageView, presentMessage } from './message.presenter.js';
import { requireParticipant } from './room.model.js';

/** Most messages one list holds. (contract, section 4) */
export const MAX_LISTED = 1_000;

export interface MessageList {
  /** The requesting member's. */
  email: string;
  chatList: MessageView[];
}

export interface MessagePage {
  /** At most this many, up to MAX_LISTED. */
  limit?: number;
  /** Only messages before the one with this id. */
  before?: string;
  /** Leaves the read position unchanged. */
  peek?: boolean;
}

/**
 * Marks the other's messages read, then lists the room's latest messages, oldest first, as many as fit.
 * @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN, MESSAGE_NOT_FOUND for an unknown `before`
 */
export async function listMessages(
  deps: ChatDeps,
  actor: Actor,
  chatNo: number,
  page: MessagePage,
): Promise<MessageList> {
  const state = await deps.states.load(chatNo);
  requireParticipant(state, actor.no);
  // What is stored from now on is not marked read below: it is not shown, either. The state may be advanced meanwhile.
  const { seq } = state;
  const range = { limit: page.limit ?? MAX_LISTED, upTo: seq };
  if (page.before !== undefined) {
    const next = await Message.findOne({ _id: page.before, chatNo }, { seq: 1 }).lean();
    if (!next) throw new AppError('MESSAGE_NOT_FOUND', `before: chat room ${chatNo} holds no such message`);
    range.upTo = next.seq - 1;
  }
  if (!page.peek) await markStateRead(deps, state, actor.no, seq);
  const [records, people] = await Promise.all([
    readMessages(chatNo, 'newest', range),
    deps.directory.lookUp([state.creator, state.joiner]),
  ]);
  const newestFirst = records.map((record) =>
    presentMessage(record, state, people.get(record.senderNo), actor.no),
  );
  return { email: actor.email, chatList: fitting(newestFirst).reverse() };
}
