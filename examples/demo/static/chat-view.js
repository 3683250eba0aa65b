import { make } from './dom.js';
import { messageBubble, pendingBubble } from './message-bubble.js';
import { otherPartyOf } from './room-list.js';
import { TypingSender } from './typing-sender.js';

/** How long the other party's typing is shown without a repetition, ms. */
const TYPING_SHOWN_MS = 5_000;

/** Distance from the end, in pixels, within which the view follows new messages. */
const NEAR_END = 80;

/** Browsers have no randomUUID over plain HTTP from another machine. */
function newId() {
  const words = () => [...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(16)).join('-');
  return crypto.randomUUID?.() ?? words();
}

/** The open room of one member: messages in order without gaps or repeats, presence, typing, sending. */
export class ChatView {
  #session;
  #me;
  #room;
  #lastSeq = 0;
  #lastId = '';
  #catchingUp = false;
  /** Whether to join again once the running join is over. */
  #joinAgain = false;
  #typingTimer;
  #typingSender;
  /** Shown messages by `seq`. */
  #bubbles = new Map();
  /** Messages sent and not acknowledged, by `clientId`. */
  #pending = new Map();

  #title = make('h3', {});
  #about = make('p.about', {});
  #subtitle = make('p.presence', {});
  #messages = make('ol.messages', { tabindex: '0', 'aria-label': 'Messages', 'aria-live': 'polite' });
  #typing = make('p.typing', { 'aria-live': 'polite' });
  #input;
  #form;
  #bar;
  placeholder = make('div.chat-empty', {});
  element;

  /**
   * @param session of the member
   * @param onClose called when the room was closed by its button
   */
  constructor(session, onClose) {
    this.#session = session;
    this.#me = session.member.no;
    this.#typingSender = new TypingSender(session);
    this.#input = make('textarea', {
      rows: '1',
      maxlength: '5000',
      placeholder: 'Write a message',
      'aria-label': `Message as ${session.member.nickname}`,
      keydown: (event) => {
        // During composition of a syllable (Korean), Enter ends it and sends nothing.
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        this.#form.requestSubmit();
      },
      input: () => this.#room && this.#typingSender.typed(this.#room.chatNo),
    });
    const submit = make('button.primary', { type: 'submit' }, 'Send');
    this.#form = make('form.compose', { submit: (event) => this.#submit(event) }, this.#input, submit);
    const close = make('button.quiet', { type: 'button', click: () => onClose() }, 'Close room');
    const names = make('div.with', {}, this.#title, this.#about, this.#subtitle);
    this.#bar = make('div.chat-bar', {}, names, close);
    this.element = make(
      'div.chat',
      {},
      this.placeholder,
      this.#bar,
      this.#messages,
      this.#typing,
      this.#form,
    );
    this.#showRoom();
  }

  get chatNo() {
    return this.#room?.chatNo;
  }

  /** Opens a room, or none. */
  async open(room) {
    if (room?.chatNo === this.chatNo) return;
    this.#typingSender.end();
    if (this.#room) {
      const left = this.#session.ask('room:leave', { chatNo: this.chatNo });
      left.catch((error) => console.info(error.message));
    }
    this.#room = room;
    this.#pending.clear();
    this.#empty();
    clearTimeout(this.#typingTimer);
    this.#typing.textContent = '';
    this.#showRoom();
    await this.catchUp();
    this.#messages.scrollTop = this.#messages.scrollHeight;
  }

  /** Joins until nothing is missing: at first, after a reconnect, and after a gap in the numbers. */
  async catchUp() {
    this.#joinAgain = true;
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    try {
      while (this.#joinAgain && this.#room) {
        this.#joinAgain = false;
        await this.#join();
      }
    } catch (error) {
      this.#follow(() => this.#messages.append(make('li.note', {}, error.message)));
    } finally {
      this.#catchingUp = false;
    }
  }

  /** Handles an event of the socket, if it is about the open room. */
  receive(event, value) {
    if (value.chatNo !== this.chatNo) return;
    if (event === 'message') this.#arrive(value);
    if (value.memberNo === this.#me) return;
    if (event === 'typing') this.#showTyping(value.typing);
    if (event === 'presence') this.#showPresence(value.present);
    if (event === 'message:read') {
      for (const [seq, bubble] of this.#bubbles) if (seq <= value.seq) bubble.markRead();
    }
  }

  #empty() {
    this.#lastSeq = 0;
    this.#lastId = '';
    this.#bubbles.clear();
    this.#messages.replaceChildren();
  }

  async #join() {
    const { chatNo } = this.#room;
    const had = this.#lastSeq > 0 ? { after: this.#lastSeq, afterId: this.#lastId } : {};
    const answer = await this.#session.ask('room:join', { chatNo, ...had });
    if (this.chatNo !== chatNo) {
      this.#joinAgain = true;
      return;
    }
    // The service was restored from a backup: what is shown is of before.
    if (had.after && answer.from === 'newest') {
      this.#empty();
      for (const { element } of this.#pending.values()) this.#messages.append(element);
    }
    for (const message of answer.messages) this.#add(message);
    this.#showPresence(answer.present.includes(otherPartyOf(this.#room, this.#me)));
    if (this.#lastSeq < answer.seq && answer.messages.length > 0) this.#joinAgain = true;
  }

  /** A message of this room, in any order. */
  #arrive(message) {
    if (message.seq > this.#lastSeq + 1) void this.catchUp();
    else this.#add(message);
  }

  /** Adds a message unless it is shown already. */
  #add(message) {
    if (message.seq <= this.#lastSeq) return;
    this.#lastSeq = message.seq;
    this.#lastId = message.id;
    const mine = message.senderNo === this.#me;
    if (mine) this.#removePending(message.content);
    else this.#showTyping(false);
    const bubble = messageBubble(message, mine);
    this.#bubbles.set(message.seq, bubble);
    const [firstPending] = this.#pending.values();
    this.#follow(() => this.#messages.insertBefore(bubble.element, firstPending?.element ?? null));
  }

  #removePending(content) {
    const [id, bubble] = [...this.#pending].find(([, { request }]) => request.content === content) ?? [];
    if (!id) return;
    this.#pending.delete(id);
    bubble.element.remove();
  }

  #submit(event) {
    event.preventDefault();
    const content = this.#input.value.trim();
    if (!content || !this.#room) return;
    this.#input.value = '';
    this.#typingSender.end();
    void this.#send({ chatNo: this.chatNo, contentType: 'text', content, clientId: newId() });
  }

  async #send(request) {
    const bubble = pendingBubble(request, () => {
      this.#pending.delete(request.clientId);
      bubble.element.remove();
      void this.#send(request);
    });
    this.#pending.set(request.clientId, { ...bubble, request });
    this.#follow(() => this.#messages.append(bubble.element));
    try {
      const { message } = await this.#session.ask('message:send', request);
      this.#pending.delete(request.clientId);
      bubble.element.remove();
      if (this.chatNo === message.chatNo) this.#arrive(message);
    } catch (error) {
      bubble.fail(error.message);
    }
  }

  /** Changes the list of messages, and stays at its end if it was there. */
  #follow(change) {
    const list = this.#messages;
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_END;
    change();
    if (atEnd) list.scrollTop = list.scrollHeight;
  }

  #showRoom() {
    const room = this.#room;
    for (const part of [this.#bar, this.#messages, this.#typing, this.#form]) part.hidden = !room;
    this.placeholder.hidden = Boolean(room);
    if (!room) return;
    this.#title.textContent = room.participant.username;
    this.#about.textContent = room.saleTitle;
    this.#showPresence(false);
  }

  #showPresence(present) {
    this.#subtitle.replaceChildren(
      make(present ? 'span.dot.on' : 'span.dot', { 'aria-hidden': 'true' }),
      present ? 'in this room now' : 'not in this room',
    );
  }

  #showTyping(isTyping) {
    clearTimeout(this.#typingTimer);
    this.#typing.textContent = isTyping ? `${this.#room.participant.username} is typing …` : '';
    if (isTyping) this.#typingTimer = setTimeout(() => this.#showTyping(false), TYPING_SHOWN_MS);
  }
}
