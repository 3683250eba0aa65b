import type { Actor } from '../kernel/actor.js';
import type { MessagePayload, ReadPosition, RoomHead } from '../kernel/live.js';
import { metrics } from '../platform/observe/metrics.js';
import { createAutoRead } from './auto-read.js';
import { readAfter, readHeads, readHeadsOf, republishAfter } from './catch-up.js';
import type { ChatDeps } from './chat-deps.js';
import { createRoom } from './create-room.js';
import { disconnectFromRoom } from './disconnect-from-room.js';
import { enterRoom } from './enter-room.js';
import { requireToken } from './identify-poster.js';
import { Ledger } from './ledger.js';
import { listMessages } from './list-messages.js';
import { listRooms } from './list-rooms.js';
import { markRead, markStateRead } from './mark-read.js';
import { NotifyAbsent } from './notify-absent.js';
import { echoMessage, pushMessage } from './push-message.js';
import type { Shown } from './recent-clients.js';
import { requireParticipant } from './room.model.js';
import { RoomChanges } from './room-changes.js';
import { createRoomStates, headOf, type RoomState } from './room-states.js';
import { sendMessage } from './send-message.js';
import { type ChatState, createChatState } from './shared-state.js';
import { createUncertainRooms } from './uncertain-rooms.js';
import { viewRoom } from './view-room.js';
import { createWrittenRooms } from './written-rooms.js';

export type { Entered } from './enter-room.js';
export type { Caller } from './identify-poster.js';
export { MAX_LISTED } from './list-messages.js';
export { highestSentAt } from './message.model.js';
export { checkContent, messageFields } from './send-message.js';
export { createChatState } from './shared-state.js';
export { checkChat } from './verify-chat.js';

/** What chat needs; without a ChatState, that of a single process. */
type ChatOptions = Pick<
  ChatDeps,
  'clock' | 'events' | 'live' | 'logger' | 'config' | 'directory' | 'adoption' | 'quotas'
> &
  Partial<ChatState>;

/** One-to-one chat about adoption posts. (contract, sections 4 and 5) */
export type Chat = ReturnType<typeof createChat>;

/** Connects the parts of chat. */
function createParts(options: ChatOptions) {
  const { clock, events, live, logger, directory, adoption } = options;
  const { presence, recentClients, shared } = { ...createChatState(live), ...options };
  const states = createRoomStates();
  const uncertain = createUncertainRooms((chatNo, seq) => republishAfter(deps, chatNo, seq), logger);
  const ledger = new Ledger({ clock, states, presence, live, onUnknownOutcome: uncertain.add });
  const changes = new RoomChanges({ shared, states, directory, adoption, live, logger });
  const mark = (state: RoomState, memberNo: number, seq: number) =>
    markStateRead({ ledger, live, changes }, state, memberNo, seq);
  const notifyAbsent = new NotifyAbsent({
    events,
    states,
    presence,
    logger,
    markRead: mark,
  });
  presence.onChange(live.presence);
  const deps: ChatDeps = { ...options, presence, recentClients, states, ledger, changes, notifyAbsent };
  return {
    deps,
    uncertain,
    // A single process knows for certain who is present.
    autoRead: shared ? createAutoRead(states, presence, mark, logger) : undefined,
  };
}

export function createChat(options: ChatOptions) {
  const { deps, uncertain, autoRead } = createParts(options);
  const { presence, recentClients, states, ledger, changes, notifyAbsent } = deps;
  const stopWatching = [
    metrics.queueLength.watch(() => ledger.waiting, { queue: 'ledger' }),
    metrics.queueLength.watch(() => notifyAbsent.waiting, { queue: 'notify' }),
  ];

  return {
    /**
     * A member used a token from a client. With LEGACY_ANONYMOUS=off nobody asks for it.
     * @param client its hash (kernel/client.ts); undefined: it identifies nobody
     * @param shown the rooms that the call showed
     */
    noteClient(client: string | undefined, memberNo: number, shown?: Shown): void {
      if (client !== undefined && options.config.LEGACY_ANONYMOUS !== 'off')
        recentClients.touch(client, memberNo, shown);
    },
    createRoom: createRoom.bind(null, deps),
    listRooms: listRooms.bind(null, deps),
    listMessages: listMessages.bind(null, deps),
    sendMessage: sendMessage.bind(null, deps),
    pushMessage: pushMessage.bind(null, deps),
    echoMessage: echoMessage.bind(null, deps),
    requireToken: requireToken.bind(null, deps),
    markRead: markRead.bind(null, deps),
    enterRoom: enterRoom.bind(null, deps),
    /** To be called before a connection leaves a room: presence ends with a member's last one. */
    leaveRoom: (memberNo: number, chatNo: number, connection: string) =>
      presence.leave(chatNo, memberNo, connection),
    disconnectFromRoom: disconnectFromRoom.bind(null, deps),
    /** @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN */
    async requireParticipant(actor: Actor, chatNo: number): Promise<void> {
      requireParticipant(await states.get(chatNo), actor.no);
    },
    readAfter: readAfter.bind(null, deps),
    heads: readHeads,
    headsOf: readHeadsOf,
    /** The room's numbers in memory, if this process has them. */
    knownHead(chatNo: number): RoomHead | undefined {
      const state = states.peek(chatNo);
      return state && headOf(state);
    },
    viewRoom: viewRoom.bind(null, deps),
    /** A message of another process is being delivered here. */
    noteMessage(payload: MessagePayload): void {
      states.advance(payload);
      autoRead?.(payload);
    },
    /** A read position of another process has arrived. */
    noteRead: (chatNo: number, position: ReadPosition) => states.advanceRead(chatNo, position),
    /** What this process reports to the others: see written-rooms.ts. */
    writtenSince: createWrittenRooms({ states, changes, ledger, uncertain }),
    /** After `close`: whether everything that this process wrote is published, with no write of unknown outcome. */
    isSettled: (): boolean => uncertain.unsure().length === 0,
    /** Sends again the rooms that changed here since then (performance.now()). */
    resendSince: (since: number, isOver?: () => boolean) => changes.resendSince(since, isOver),
    /** A change of presence has arrived. @returns false if it, or a later one of the member, is known */
    acceptPresence: (chatNo: number, memberNo: number, present: boolean, version: number) =>
      presence.accept(chatNo, memberNo, present, version),
    /** Presence may have changed in a room. */
    checkPresence: (chatNo: number) => presence.check(chatNo),
    /** Notifies of messages whose notification a crash interrupted. */
    sweep: () => notifyAbsent.sweep(),
    async close(): Promise<void> {
      await ledger.close();
      uncertain.close();
      await notifyAbsent.close();
      await changes.close();
      recentClients.close();
      await presence.close();
      for (const stop of stopWatching) stop();
    },
  };
}
