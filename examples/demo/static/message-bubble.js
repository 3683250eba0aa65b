import { make, picture, shortTime } from './dom.js';
import { icon } from './icons.js';

function photo(address) {
  const image = picture(address, 140, 'A picture');
  image?.classList.add('photo');
  return image;
}

/** A message's content; addresses of other hosts are shown as text. */
function contentOf({ contentType, content }) {
  if (contentType === 'coords') return make('span', {}, icon('place'), ` ${content}`);
  if (contentType === 'image' || contentType === 'picture') {
    return photo(content) ?? make('span', {}, icon('picture'), ` ${content}`);
  }
  return make('span', {}, content);
}

/** A stored message. `markRead` shows that the other party has read it. */
export function messageBubble(message, mine) {
  const state = make('span.state', {}, mine ? (message.readCount === 0 ? 'read' : 'sent') : '');
  const time = make('time', {}, shortTime(message.sendTime));
  const element = make(
    mine ? 'li.bubble.mine' : 'li.bubble',
    { 'data-seq': message.seq },
    make('div.content', {}, contentOf(message)),
    make('div.meta', {}, time, state),
  );
  return {
    element,
    markRead() {
      if (mine) state.textContent = 'read';
    },
  };
}

/** An unacknowledged message. `fail` offers to send it again; the server recognises it by its `clientId`. */
export function pendingBubble(request, again) {
  const meta = make('div.meta', {}, 'sending …');
  const element = make('li.bubble.mine.pending', {}, make('div.content', {}, contentOf(request)), meta);
  return {
    element,
    fail(reason) {
      element.classList.add('failed');
      meta.replaceChildren(
        `${reason} `,
        make('button.quiet', { type: 'button', click: again }, 'Send again'),
      );
    },
  };
}
