import { avatar, make, shortTime } from './dom.js';

/** When a room last changed, for the order. */
function activity({ latestMessage, regDate }) {
  return latestMessage?.sendAt ?? regDate;
}

/** The other party's number in a room, as one of its participants sees it. */
export function otherPartyOf({ createMember, joinMember }, memberNo) {
  return createMember === memberNo ? joinMember : createMember;
}

/**
 * A member's rooms, newest activity first, kept up to date by `room` events.
 *
 * @param onOpen called with the chosen room
 * @param onUnread called with the number of unread messages in all rooms
 */
export function createRoomList(onOpen, onUnread) {
  const rooms = new Map();
  let current;
  const list = make('ul.rooms', { 'aria-label': 'Chat rooms' });

  function entry(room) {
    const { chatNo, participant, saleTitle, latestMessage, unReadCount } = room;
    const { username, profile } = participant;
    const unread =
      unReadCount > 0 &&
      make(
        'span.unread',
        { 'aria-label': `${unReadCount} unread` },
        unReadCount > 99 ? '99+' : String(unReadCount),
      );
    const button = make(
      'button.room',
      {
        type: 'button',
        title: saleTitle,
        'data-room': chatNo,
        'aria-current': chatNo === current ? 'true' : undefined,
        click: () => onOpen(room),
      },
      avatar({ nickname: username, profile }),
      make(
        'span.room-text',
        {},
        make('span.room-name', {}, make('span', {}, username), make('time', {}, shortTime(activity(room)))),
        make('span.room-latest', {}, latestMessage?.context ?? saleTitle),
      ),
      unread,
    );
    return make('li', {}, button);
  }

  function show() {
    const focused = document.activeElement?.dataset?.room;
    const hadFocus = list.contains(document.activeElement);
    const sorted = [...rooms.values()].sort((a, b) => activity(b) - activity(a));
    list.replaceChildren(...sorted.map(entry));
    if (hadFocus) list.querySelector(`[data-room="${focused}"]`)?.focus();
    if (sorted.length === 0) list.append(make('li.empty', {}, 'No chats yet.'));
    onUnread(sorted.reduce((sum, { unReadCount }) => sum + unReadCount, 0));
  }

  return {
    element: list,
    /** Replaces the list. */
    replace(all) {
      rooms.clear();
      for (const room of all) rooms.set(room.chatNo, room);
      show();
    },
    /** Adds or replaces one room. */
    update(room) {
      rooms.set(room.chatNo, room);
      show();
    },
    /** Marks the room that is open; undefined for none. */
    mark(chatNo) {
      current = chatNo;
      show();
      // Keeps the open room in view where the list is one scrolling row.
      const button = list.querySelector('[aria-current]');
      if (button) list.scrollLeft = button.parentElement.offsetLeft - list.firstElementChild.offsetLeft;
    },
    find: (chatNo) => rooms.get(chatNo),
    all: () => [...rooms.values()],
  };
}
