import { make } from './dom.js';
import { icon } from './icons.js';

/** Most notifications shown. */
const SHOWN = 30;

const LABELS = {
  announcement: 'Announcement',
  documentHot: 'Your article is HOT',
  documentWeek: 'Your article leads the week',
  chat: 'Message',
  note: 'Note',
  comment: 'Comment',
  recomment: 'Reply',
};

function timeOf([, month, day, hour, minute]) {
  const two = (number) => String(number).padStart(2, '0');
  return `${month}/${day} ${two(hour)}:${two(minute)}`;
}

/**
 * A member's notifications: the stored ones, and those that arrive on the event stream.
 *
 * @param session of the member
 * @param onFollow called with the `url` of the chosen one
 * @param onUnread called with the number of unread ones
 */
export function createNotificationList(session, onFollow, onUnread) {
  let records = [];
  const list = make('ol.notifications', { 'aria-label': 'Notifications', 'aria-live': 'polite' });
  const state = make('span.stream-state', {});
  const clear = make('button.quiet', { type: 'button', click: () => void removeAll() }, 'Delete all');
  const element = make(
    'details.notices',
    { open: true },
    make('summary', {}, 'Notifications ', state),
    list,
    clear,
  );

  function entry(record) {
    const { id, type, content, name, publishedAt, checked, url } = record;
    const label = LABELS[type] ?? type;
    const from = name === 'admin' ? label : `${label} · ${name}`;
    const button = make(
      checked ? 'button.notice' : 'button.notice.new',
      {
        type: 'button',
        'data-notification': id,
        click: () => {
          void check(record);
          onFollow(url);
        },
      },
      icon(type),
      make('span.notice-text', {}, make('span.from', {}, from), make('span.what', {}, content)),
      make('time', {}, timeOf(publishedAt)),
    );
    return make('li', {}, button);
  }

  function show() {
    list.replaceChildren(...records.slice(0, SHOWN).map(entry));
    if (records.length === 0) list.append(make('li.empty', {}, 'Nothing yet.'));
    clear.hidden = records.length === 0;
    onUnread(records.filter(({ checked }) => !checked).length);
  }

  async function check(record) {
    if (record.checked) return;
    record.checked = true;
    show();
    await session.patch(`/notification/checked/${record.id}`);
  }

  async function removeAll() {
    const idList = records.map(({ id }) => id);
    records = [];
    show();
    await session.post('/notification', { idList });
  }

  return {
    element,
    async load() {
      const known = new Set(records.map(({ id }) => id));
      const stored = await session.get('/notification/all');
      records = [...records, ...stored.filter(({ id }) => !known.has(id))];
      show();
    },
    /** Adds one that has arrived. */
    add(record) {
      if (records.some(({ id }) => id === record.id)) return;
      records.unshift(record);
      show();
      list.firstElementChild.classList.add('arrived');
    },
    stream(current) {
      state.textContent = current === 'open' ? 'stream open' : 'connecting …';
      state.dataset.state = current;
    },
  };
}
