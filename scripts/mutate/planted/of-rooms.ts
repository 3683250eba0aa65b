import type { PlantedFault } from './planted-fault.js';

/** What has been read, and who is in a room. */
export const ofRooms: Record<string, PlantedFault> = {
  'read-ignored': {
    does: 'answers message:read and does nothing',
    file: 'gateway/events/message-read.js',
    find: 'await domain.chat.markRead(actor, chatNo, seq);',
    replace: '',
    rule: 'unread-counts',
  },
  'read-on-other-side': {
    does: 'moves the other party’s read position instead of the reader’s',
    file: 'domain/chat/mark-read.js',
    find: 'ledger.markRead(state, side, seq)',
    replace: "ledger.markRead(state, side === 'creator' ? 'joiner' : 'creator', seq)",
    rule: 'unread-counts',
  },
  'unread-off-by-one': {
    does: 'counts one unread message too many in the first room of each list',
    file: 'domain/chat/list-rooms.js',
    find: 'return fitting(views);',
    replace:
      'return fitting(views.map((view, i) => (i === 0 ? { ...view, unReadCount: view.unReadCount + 1 } : view)));',
    rule: 'unread-counts',
  },
  'unread-stays': {
    does: 'stores how far a member has read without lowering their count',
    file: 'domain/chat/ledger.js',
    find: '.others`]: others }',
    replace: '.others`]: 0 }',
    rule: 'unread-counts',
  },
  'no-room-event': {
    does: 'sends no room event after a read',
    file: 'domain/chat/mark-read.js',
    find: 'changes.touch(state.chatNo, [side]);',
    replace: '',
    rule: 'reads-are-told',
    options: ['--faults', 'none'],
  },
  'room-event-here': {
    does: 'sends room events only to the sockets of its own process, not to the member’s other devices',
    file: 'gateway/socket-live.js',
    find: "this.#send(memberRoom(memberNo), ['room', view, mark]);",
    replace: "this.#deliver(memberRoom(memberNo), ['room', view, mark]);",
    rule: 'room-events-are-fresh',
  },
  'latest-of-before': {
    does: 'keeps in memory the latest message before the one that it stores',
    file: 'domain/chat/room-states.js',
    find: 'state.latest = { content: record.content, contentType: record.contentType, sentAt: record.sentAt };',
    replace: '',
    rule: 'room-events-are-fresh',
    or: 'latest-message',
  },
  'own-name': {
    does: 'shows members in their room lists as their own partners',
    file: 'domain/chat/list-rooms.js',
    find: 'presentRoom(state, side, people.get(state[other(side)])',
    replace: 'presentRoom(state, side, people.get(state[side])',
    rule: 'answers-are-whole',
  },
  'keep-presence': {
    does: 'forgets that members leave',
    file: 'domain/chat/presence.memory.js',
    find: 'if (!members || !known)\n            return false;',
    replace: 'return false;',
    rule: 'presence',
    or: 'joined-view-is-fresh',
    // Presence has its longer times after faults.
    options: ['--faults', 'none'],
  },
  'presence-of-other-tab': {
    does: 'keeps a presence whose member has another tab on another gateway, until it expires',
    file: 'domain/chat/presence.redis.js',
    find: 'const departure = await this.#store.leave(chatNo, memberNo);',
    replace: `const [, ...present] = (await this.#store.list(chatNo)) ?? [];
        if (present.filter((no) => no === memberNo).length > 1) return;
        const departure = await this.#store.leave(chatNo, memberNo);`,
    rule: 'pushes-arrive',
    options: ['--faults', 'none'],
  },
  'long-presence': {
    does: 'keeps the presence of a dead process for 90 s',
    file: 'domain/chat/presence-times.js',
    find: 'lifetime: 20_000,',
    replace: 'lifetime: 90_000,',
    rule: 'presence',
    options: ['--faults', 'kill'],
  },
  'rest-leave-ignored': {
    does: 'answers a leave over REST, and leaves the member in the room',
    file: 'domain/chat/disconnect-from-room.js',
    find: 'if (member.no === actor.no)\n        await deps.presence.clear(chatNo, member.no);',
    replace: '',
    rule: 'presence',
    or: 'joined-view-is-fresh',
  },
  'heard-after-leave': {
    does: 'goes on sending a room’s events to a socket that has left it',
    file: 'gateway/connection/leave-chat-room.js',
    find: 'await socket.leave(chatRoom(chatNo));',
    replace: '',
    rule: 'rooms-are-closed',
  },
  'open-rooms': {
    does: 'lets anybody into a room of others',
    file: 'domain/chat/room.model.js',
    find: 'const side = sideOf(room, memberNo);',
    replace: "const side = sideOf(room, memberNo) ?? 'joiner';",
    rule: 'others-are-refused',
  },
};
