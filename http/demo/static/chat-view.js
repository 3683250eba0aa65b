import { make } from './dom.js';
import { messageBubble, pendingBubble } from './message-bubble.js';
import { otherPartyOf } from './room-list.js';

/** How long typing is shown without a further word of it, and after which pause it is said to end, in ms. */
const TYPING_SHOWN_MS = 5_000;
const TYPING_PAUSE_MS = 2_000;

/** Distance from the end, in pixels, within which the view follows new messages. */
const NEAR_END = 80;

/**
 * The open room of one member: messages in order without gaps or doubles, presence, typing, sending.
 *
 * @param session of the member
 * @param onClose called when the room was closed by its button
 */
export function createChatView(session, onClose) {
  const me = session.member.no;
  let room;
  let lastSeq = 0;
  let catchingUp = false;
  let wanted = false;
  let typingTimer;
  let pauseTimer;
  const bubbles = new Map();
  const waiting = new Map();

  const title = make('h3', {});
  const about = make('p.about', {});
  const subtitle = make('p.presence', {});
  const messages = make('ol.messages', { tabindex: '0', 'aria-label': 'Messages', 'aria-live': 'polite' });
  const typing = make('p.typing', { 'aria-live': 'polite' });
  const input = make('textarea', {
    rows: '1',
    maxlength: '5000',
    placeholder: 'Write a message',
    'aria-label': `Message as ${session.member.nickname}`,
    keydown(event) {
      // While a syllable is being composed (Korean), Enter ends it and sends nothing.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    },
    input: sayTyping,
  });
  const form = make(
    'form.compose',
    {
      submit(event) {
        event.preventDefault();
        const content = input.value.trim();
        if (!content || !room) return;
        input.value = '';
        endTyping();
        void send({
          chatNo: room.chatNo,
          contentType: 'text',
          content,
          clientId: crypto.randomUUID?.() ?? newId(),
        });
      },
    },
    input,
    make('button.primary', { type: 'submit' }, 'Send'),
  );
  const close = make('button.quiet', { type: 'button', click: () => onClose() }, 'Close room');
  const bar = make('div.chat-bar', {}, make('div.with', {}, title, about, subtitle), close);
  const placeholder = make('div.chat-empty', {});
  const element = make('div.chat', {}, placeholder, bar, messages, typing, form);
  showRoom();

  /** Over plain HTTP from another machine browsers have no randomUUID. */
  function newId() {
    return [...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(16)).join('-');
  }

  function showRoom() {
    for (const part of [bar, messages, typing, form]) part.hidden = !room;
    placeholder.hidden = Boolean(room);
    if (!room) return;
    title.textContent = room.participant.username;
    about.textContent = room.saleTitle;
    showPresence(false);
  }

  function showPresence(present) {
    subtitle.replaceChildren(
      make(present ? 'span.dot.on' : 'span.dot', { 'aria-hidden': 'true' }),
      present ? 'in this room now' : 'not in this room',
    );
  }

  function showTyping(isTyping) {
    clearTimeout(typingTimer);
    typing.textContent = isTyping ? `${room.participant.username} is typing …` : '';
    if (isTyping) typingTimer = setTimeout(() => showTyping(false), TYPING_SHOWN_MS);
  }

  function follow(change) {
    const atEnd = messages.scrollHeight - messages.scrollTop - messages.clientHeight < NEAR_END;
    change();
    if (atEnd) messages.scrollTop = messages.scrollHeight;
  }

  /** Adds a message unless it is there: numbers make doubles harmless. */
  function add(message) {
    if (message.seq <= lastSeq) return;
    lastSeq = message.seq;
    const mine = message.senderNo === me;
    if (mine) removeWaiting(message.content);
    if (!mine) showTyping(false);
    const bubble = messageBubble(message, mine);
    bubbles.set(message.seq, bubble);
    follow(() => messages.insertBefore(bubble.element, [...waiting.values()][0]?.element ?? null));
  }

  function removeWaiting(content) {
    const [id, bubble] = [...waiting].find(([, { request }]) => request.content === content) ?? [];
    if (!id) return;
    waiting.delete(id);
    bubble.element.remove();
  }

  /** Joins the room once and takes in what was missing. */
  async function join() {
    const { chatNo } = room;
    const after = lastSeq > 0 ? { after: lastSeq } : {};
    const answer = await session.ask('room:join', { chatNo, ...after });
    if (room?.chatNo !== chatNo) {
      wanted = true;
      return;
    }
    for (const message of answer.messages) add(message);
    showPresence(answer.present.includes(otherPartyOf(room, me)));
    if (lastSeq < answer.seq && answer.messages.length > 0) wanted = true;
  }

  /** Joins until nothing is missing: at first, after a reconnect, and after a gap in the numbers. */
  async function catchUp() {
    wanted = true;
    if (catchingUp) return;
    catchingUp = true;
    try {
      while (wanted && room) {
        wanted = false;
        await join();
      }
    } catch (error) {
      showNote(error.message);
    } finally {
      catchingUp = false;
    }
  }

  function showNote(text) {
    follow(() => messages.append(make('li.note', {}, text)));
  }

  async function send(request) {
    const bubble = pendingBubble(request, () => {
      waiting.delete(request.clientId);
      bubble.element.remove();
      void send(request);
    });
    waiting.set(request.clientId, { ...bubble, request });
    follow(() => messages.append(bubble.element));
    try {
      const { message } = await session.ask('message:send', request);
      waiting.delete(request.clientId);
      bubble.element.remove();
      if (room?.chatNo === message.chatNo) arrive(message);
    } catch (error) {
      bubble.fail(error.message);
    }
  }

  /** A message of this room, in whatever order it came. */
  function arrive(message) {
    if (message.seq > lastSeq + 1) void catchUp();
    else add(message);
  }

  function sayTyping() {
    if (!room) return;
    if (pauseTimer === undefined) session.tell('typing', { chatNo: room.chatNo, typing: true });
    clearTimeout(pauseTimer);
    pauseTimer = setTimeout(endTyping, TYPING_PAUSE_MS);
  }

  function endTyping() {
    if (pauseTimer === undefined) return;
    clearTimeout(pauseTimer);
    pauseTimer = undefined;
    if (room) session.tell('typing', { chatNo: room.chatNo, typing: false });
  }

  const heard = {
    message: arrive,
    typing: ({ memberNo, typing: isTyping }) => memberNo !== me && showTyping(isTyping),
    presence: ({ memberNo, present }) => memberNo !== me && showPresence(present),
    'message:read': ({ memberNo, seq }) => {
      if (memberNo === me) return;
      for (const [number, bubble] of bubbles) if (number <= seq) bubble.markRead();
    },
  };

  return {
    element,
    placeholder,
    current: () => room?.chatNo,
    /** Opens a room, or none. */
    async open(next) {
      if (next?.chatNo === room?.chatNo) return;
      endTyping();
      if (room)
        session.ask('room:leave', { chatNo: room.chatNo }).catch((error) => console.info(error.message));
      room = next;
      lastSeq = 0;
      bubbles.clear();
      waiting.clear();
      messages.replaceChildren();
      clearTimeout(typingTimer);
      typing.textContent = '';
      showRoom();
      await catchUp();
      messages.scrollTop = messages.scrollHeight;
    },
    /** The connection stands again: what was missed is read. */
    reconnected: catchUp,
    hear(event, value) {
      if (value.chatNo === room?.chatNo) heard[event]?.(value);
    },
  };
}
