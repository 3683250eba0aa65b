import { createChatView } from './chat-view.js';
import { avatar, make } from './dom.js';
import { createNotificationList } from './notification-list.js';
import { createRoomList, otherPartyOf } from './room-list.js';
import { createSession } from './session.js';

/**
 * One side of the page: a member with their rooms, the open chat and their notifications.
 *
 * @param place the element it fills
 * @param side `left` or `right`, for labels
 * @param demo what /demo/tokens told
 * @param gateway address of the sockets
 * @param page `changed()` when another member or room was chosen, `follow(pane, url)` to show
 *   what a notification is about, `bring(pane, memberNo, chatNo)` to show
 *   the other party of a chat on the other side, `offer(pane)` what an empty chat says
 */
export function createPane(place, side, demo, gateway, page) {
  let parts;

  const select = make(
    'select',
    { 'aria-label': `Member on the ${side}`, change: () => void pane.choose(Number(select.value)) },
    ...demo.members.map(({ no, nickname }) => make('option', { value: no }, nickname)),
  );

  function badge(element, count, what) {
    element.textContent = count > 99 ? '99+' : String(count);
    element.hidden = count === 0;
    element.setAttribute('aria-label', `${count} ${what}`);
  }

  function build(member) {
    const state = make('span.connection', { role: 'status' });
    const unread = make('span.unread', { hidden: true });
    const news = make('span.unread.news', { hidden: true });
    const bring = make('button.quiet', { type: 'button' });

    const session = createSession(member, gateway);
    const rooms = createRoomList(
      (room) => void openRoom(room),
      (count) => badge(unread, count, 'unread messages'),
    );
    const chat = createChatView(session, () => void openRoom(undefined));
    const notices = createNotificationList(
      session,
      (url) => page.follow(pane, url),
      (count) => badge(news, count, 'new notifications'),
    );

    async function openRoom(room) {
      rooms.mark(room?.chatNo);
      await chat.open(room);
      page.changed();
    }

    session.connect({
      connection(current, text) {
        state.dataset.state = current;
        state.textContent = current === 'open' ? 'connected' : text;
        if (current === 'open') void chat.reconnected();
      },
      stream: (current) => notices.stream(current),
      notification: (record) => notices.add(record),
      socket(event, value) {
        if (event === 'room') rooms.update(value);
        else chat.hear(event, value);
      },
    });
    place.replaceChildren(
      make('div.pane-bar', {}, avatar(member, 40), make('div.who', {}, select, state), unread, news),
      make('div.pane-body', {}, rooms.element, make('div.chat-side', {}, chat.element, bring)),
      notices.element,
    );
    return { member, session, rooms, chat, notices, openRoom, bring };
  }

  const pane = {
    member: () => parts?.member,
    session: () => parts?.session,
    rooms: () => parts?.rooms.all() ?? [],
    currentRoom: () => parts?.rooms.find(parts.chat.current()),
    /** Shows another member. */
    async choose(no, chatNo) {
      parts?.session.close();
      const member = demo.members.find((one) => one.no === no);
      select.value = String(no);
      parts = build(member);
      const opened = parts;
      const [rooms] = await Promise.all([opened.session.get('/chatroom'), opened.notices.load()]);
      if (opened !== parts) return;
      opened.rooms.replace(rooms);
      const room = opened.rooms.find(chatNo);
      if (room) await opened.openRoom(room);
      else page.changed();
    },
    /** Opens a room of this member by its number. */
    async open(chatNo) {
      if (!parts.rooms.find(chatNo)) parts.rooms.replace(await parts.session.get('/chatroom'));
      await parts.openRoom(parts.rooms.find(chatNo));
    },
    /** Offers what fits the member on the other side. */
    facing(other) {
      const { member, chat, bring } = parts;
      const room = pane.currentRoom();
      const party = room && otherPartyOf(room, member.no);
      const name = room?.participant.username;
      bring.hidden = !room || (other.member()?.no === party && other.currentRoom()?.chatNo === room.chatNo);
      bring.textContent = `Show ${name} on the other side`;
      bring.onclick = () => void page.bring(pane, party, room.chatNo);
      if (!room) chat.placeholder.replaceChildren(...page.offer(pane, other));
    },
  };
  return pane;
}
