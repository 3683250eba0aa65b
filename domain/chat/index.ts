import type { Actor } from '../kernel/actor.js';
import type { MessagePayload, ReadPosition, RoomHead, RoomView } from '../kernel/live.js';
import { createAutoRead } from './auto-read.js';
import { readAfter, readHeads, readHeadsOf, republishAfter } from './catch-up.js';
import { requireParticipant } from './chat.policy.js';
import type { ChatDeps } from './chat-deps.js';
import { createRoom } from './create-room.js';
import { disconnectFromRoom } from './disconnect-from-room.js';
import { type Entered, enterRoom } from './enter-room.js';
import type { Caller } from './identify-poster.js';
import { Ledger } from './ledger.js';
import { listMessages, type MessageList, type MessagePage } from './list-messages.js';
import { listRooms } from './list-rooms.js';
import { markRead, markStateRead } from './mark-read.js';
import { NotifyAbsent } from './notify-absent.js';
import { echoMessage, type PushAnswer, type PushInput, pushMessage } from './push-message.js';
import type { RecentClients } from './recent-clients.js';
import type { MarkedView } from './room.presenter.js';
import { RoomChanges } from './room-changes.js';
import { createRoomStates, headOf, type RoomState } from './room-states.js';
import { type SendInput, sendMessage } from './send-message.js';
import { type ChatState, createChatState } from './shared-state.js';
import { createUncertainRooms } from './uncertain-rooms.js';
import { viewRoom } from './view-room.js';

export type { Entered } from './enter-room.js';
export type { Caller } from './identify-poster.js';
export { MAX_LISTED } from './list-messages.js';
export { checkContent, messageFields } from './send-message.js';
export { createChatState } from './shared-state.js';
export { checkChat } from './verify-chat.js';

/** One-to-one chat about adoption posts. (contract, sections 4 and 5) */
export interface Chat {
  recentClients: RecentClients;
  createRoom(actor: Actor, input: { saleNo: number; createMember: number }): Promise<number>;
  listRooms(actor: Actor, saleNo?: number): Promise<RoomView[]>;
  listMessages(actor: Actor, chatNo: number, page: MessagePage): Promise<MessageList>;
  sendMessage(actor: Actor, input: SendInput): Promise<MessagePayload>;
  pushMessage(caller: Caller, input: PushInput): Promise<PushAnswer>;
  echoMessage(chatNo: number, messageId: string): Promise<PushAnswer>;
  markRead(actor: Actor, chatNo: number, seq: number): Promise<void>;
  enterRoom(actor: Actor, chatNo: number, after: number | undefined, connection: string): Promise<Entered>;
  /** A connection has left a room, or is about to; presence ends with a member's last one. */
  leaveRoom(memberNo: number, chatNo: number, connection: string): Promise<void>;
  disconnectFromRoom(caller: Caller, chatNo: number, email: string): Promise<void>;
  /** @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN */
  requireParticipant(actor: Actor, chatNo: number): Promise<void>;
  /** The messages of a room after a number, oldest first, at most some hundreds. */
  readAfter(chatNo: number, after: number): Promise<MessagePayload[]>;
  /** The numbers of these rooms. */
  heads(chatNos: number[]): Promise<RoomHead[]>;
  /** The numbers of all rooms of these members. */
  headsOf(memberNos: number[]): Promise<RoomHead[]>;
  /** The numbers of a room as this process remembers them, if it does. */
  knownHead(chatNo: number): RoomHead | undefined;
  /** A room as a participant sees it, from the database. @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN */
  viewRoom(chatNo: number, memberNo: number): Promise<MarkedView>;
  /** Takes in what another process has written to a room. */
  heard(payload: MessagePayload): void;
  /** Takes in what another process has recorded as read. */
  heardRead(chatNo: number, position: ReadPosition): void;
  /**
   * Says of which rooms this process hears everything (`heard`, `heardRead`): their states are told from
   * memory, others are read from the database first.
   */
  followedBy(isFollowed: (chatNo: number) => boolean): void;
  /** Sends the rooms again that changed here since then (performance.now()). */
  resendSince(since: number): Promise<void>;
  /**
   * Takes in that a member has come to a room or left it.
   * @returns false when that, or a later change of theirs, was taken in already
   */
  heardPresence(chatNo: number, memberNo: number, present: boolean, version: number): boolean;
  /** Announces messages whose announcement a crash interrupted. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

type Given = Pick<ChatDeps, 'clock' | 'events' | 'live' | 'logger' | 'config' | 'directory' | 'adoption'> &
  Partial<ChatState>;

/** @param given without presence and bindings of the caller's, those of this process alone are used */
export function createChat(given: Given): Chat {
  const { clock, events, live, logger, directory, adoption } = given;
  const { presence, recentClients, shared } = { ...createChatState(clock, live), ...given };
  const states = createRoomStates();
  // A process that is alone writes everything itself.
  let isCurrent = (_chatNo: number) => !shared;
  const uncertain = createUncertainRooms((chatNo, seq) => republishAfter(deps, chatNo, seq), logger);
  const ledger = new Ledger({ clock, states, presence, onUnknownOutcome: uncertain.add });
  const changes = new RoomChanges({ states, directory, adoption, live, logger }, (chatNo) =>
    isCurrent(chatNo),
  );
  const mark = (state: RoomState, memberNo: number, seq: number) =>
    markStateRead({ ledger, live, changes }, state, memberNo, seq);
  const notifyAbsent = new NotifyAbsent({
    ...{ events, states, presence, logger },
    markRead: async (chatNo, memberNo, seq) => mark(await states.get(chatNo), memberNo, seq),
  });
  // A process that is alone knows for certain who is present.
  const autoRead = shared ? createAutoRead(states, presence, mark, logger) : undefined;
  presence.onChange(live.presence);
  const deps: ChatDeps = { ...given, presence, recentClients, states, ledger, changes, notifyAbsent };

  return {
    recentClients,
    createRoom: (actor, input) => createRoom(deps, actor, input),
    listRooms: (actor, saleNo) => listRooms(deps, actor, saleNo),
    listMessages: (actor, chatNo, page) => listMessages(deps, actor, chatNo, page),
    sendMessage: (actor, input) => sendMessage(deps, actor, input),
    pushMessage: (caller, input) => pushMessage(deps, caller, input),
    echoMessage: (chatNo, messageId) => echoMessage(deps, chatNo, messageId),
    markRead: (actor, chatNo, seq) => markRead(deps, actor, chatNo, seq),
    enterRoom: (actor, chatNo, after, connection) => enterRoom(deps, actor, chatNo, after, connection),
    leaveRoom: (memberNo, chatNo, connection) => presence.leave(chatNo, memberNo, connection),
    disconnectFromRoom: (caller, chatNo, email) => disconnectFromRoom(deps, caller, chatNo, email),
    requireParticipant: async (actor, chatNo) => {
      requireParticipant(await states.get(chatNo), actor.no);
    },
    readAfter: (chatNo, after) => readAfter(deps, chatNo, after),
    heads: readHeads,
    headsOf: readHeadsOf,
    knownHead(chatNo) {
      const state = states.peek(chatNo);
      return state && headOf(state);
    },
    viewRoom: (chatNo, memberNo) => viewRoom(deps, chatNo, memberNo),
    heard(payload) {
      states.advance(payload);
      autoRead?.(payload);
    },
    heardRead: states.advanceRead,
    followedBy(isFollowed) {
      if (shared) isCurrent = isFollowed;
    },
    resendSince: (since) => changes.resendSince(since),
    heardPresence: (...change) => presence.accept(...change),
    sweep: () => notifyAbsent.sweep(),
    async close() {
      await ledger.idle();
      uncertain.close();
      await notifyAbsent.close();
      changes.close();
      recentClients.close();
      await presence.close();
    },
  };
}
