import { ChatView } from './chat-view.js';
import { avatar, make } from './dom.js';
import { createNotificationList } from './notification-list.js';
import { createRoomList, otherPartyOf } from './room-list.js';
import { createSession } from './session.js';

function showCount(element, count, what) {
  element.textContent = count > 99 ? '99+' : String(count);
  element.hidden = count === 0;
  element.setAttribute('aria-label', `${count} ${what}`);
}

/** One side of the page: a member with their rooms, the open chat and their notifications. */
export class Pane {
  #place;
  #demo;
  #gateway;
  #page;
  #select;
  /** Views of the chosen member. */
  #views;

  /**
   * @param place the element it fills
   * @param side `left` or `right`, for labels
   * @param demo answer of /demo/tokens
   * @param gateway address of the sockets
   * @param page `changed()` when another member or room was chosen, `follow(pane, url)` to show the
   *   subject of a notification, `bring(pane, memberNo, chatNo)` to show the other party of a chat on
   *   the other side, `offer(pane, other)` for the content of an empty chat
   */
  constructor(place, side, demo, gateway, page) {
    this.#place = place;
    this.#demo = demo;
    this.#gateway = gateway;
    this.#page = page;
    this.#select = make(
      'select',
      { 'aria-label': `Member on the ${side}`, change: () => void this.choose(Number(this.#select.value)) },
      ...demo.members.map(({ no, nickname }) => make('option', { value: no }, nickname)),
    );
  }

  get member() {
    return this.#views?.session.member;
  }

  get session() {
    return this.#views?.session;
  }

  get rooms() {
    return this.#views?.rooms.all() ?? [];
  }

  get currentRoom() {
    return this.#views?.rooms.find(this.#views.chat.chatNo);
  }

  /** Shows another member. */
  async choose(no, chatNo) {
    this.#views?.session.close();
    this.#select.value = String(no);
    const views = this.#build(this.#demo.members.find((one) => one.no === no));
    this.#views = views;
    const [rooms] = await Promise.all([views.session.get('/chatroom'), views.notices.load()]);
    if (views !== this.#views) return;
    views.rooms.replace(rooms);
    const room = views.rooms.find(chatNo);
    if (room) await this.#openRoom(room);
    else this.#page.changed();
  }

  /** Opens a room of this member by its number. */
  async open(chatNo) {
    const { rooms, session } = this.#views;
    if (!rooms.find(chatNo)) rooms.replace(await session.get('/chatroom'));
    await this.#openRoom(rooms.find(chatNo));
  }

  /** Updates the offer to the member on the other side. */
  face(other) {
    const { chat, bring } = this.#views;
    const room = this.currentRoom;
    const party = room && otherPartyOf(room, this.member.no);
    bring.hidden = !room || (other.member?.no === party && other.currentRoom?.chatNo === room.chatNo);
    bring.textContent = `Show ${room?.participant.username} on the other side`;
    bring.onclick = () => void this.#page.bring(this, party, room.chatNo);
    if (!room) chat.placeholder.replaceChildren(...this.#page.offer(this, other));
  }

  #build(member) {
    const state = make('span.connection', { role: 'status' });
    const unread = make('span.unread', { hidden: true });
    const news = make('span.unread.news', { hidden: true });
    const bring = make('button.quiet', { type: 'button' });

    const session = createSession(member, this.#gateway);
    const rooms = createRoomList(
      (room) => void this.#openRoom(room),
      (count) => showCount(unread, count, 'unread messages'),
    );
    const chat = new ChatView(session, () => void this.#openRoom(undefined));
    const notices = createNotificationList(
      session,
      (url) => this.#page.follow(this, url),
      (count) => showCount(news, count, 'new notifications'),
    );

    session.connect({
      connection(current, text) {
        state.dataset.state = current;
        state.textContent = current === 'open' ? 'connected' : text;
        if (current === 'open') void chat.catchUp();
      },
      stream: (current) => notices.stream(current),
      notification: (record) => notices.add(record),
      socket(event, value) {
        if (event === 'room') rooms.update(value);
        else chat.receive(event, value);
      },
    });
    this.#place.replaceChildren(
      make('div.pane-bar', {}, avatar(member, 40), make('div.who', {}, this.#select, state), unread, news),
      make('div.pane-body', {}, rooms.element, make('div.chat-side', {}, chat.element, bring)),
      notices.element,
    );
    return { session, rooms, chat, notices, bring };
  }

  async #openRoom(room) {
    const { rooms, chat } = this.#views;
    rooms.mark(room?.chatNo);
    await chat.open(room);
    this.#page.changed();
  }
}
