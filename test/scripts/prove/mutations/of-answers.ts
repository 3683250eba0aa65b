import type { Header, HistoryLine } from '../../../../scripts/prove/history.js';
import { calls, events, type Mutation, notificationLists, the } from './edit-history.js';

const headerOf = (lines: HistoryLine[]) => lines[0] as Header;

/** All that clients were shown of messages, and what is kept of their acknowledgements. */
const shownMessages = (lines: HistoryLine[]) => [
  ...events(lines, 'message').map(({ message }) => message),
  ...calls(lines, 'send').map(({ ok }) => ok),
  ...calls(lines, 'join').flatMap(({ ok }) => ok.messages),
  ...calls(lines, 'messages').flatMap(({ ok }) => ok.messages),
];

/** Faults of what its name says, by the rule that finds them. */
export const answerMutations: Mutation[] = [
  {
    fault: 'shows another name of a sender',
    rule: 'answers-are-whole',
    apply(lines) {
      the(events(lines, 'message').at(-1)).rest = [
        { senderName: 'another', saleNo: 1, senderEmail: '1@example.org' },
      ];
    },
  },
  {
    fault: 'shows a member by another name than before',
    rule: 'answers-are-whole',
    apply(lines) {
      the(headerOf(lines).members[0]).nickname = 'another';
    },
  },
  {
    fault: 'shows a room with another title',
    rule: 'answers-are-whole',
    apply(lines) {
      the(headerOf(lines).rooms[0]).saleTitle = 'another';
    },
  },
  {
    fault: 'shows another text of an article',
    rule: 'articles-are-kept',
    apply(lines) {
      the(headerOf(lines).articles[0]).text = 'another';
    },
  },
  {
    fault: 'answers with another status',
    rule: 'answers-are-whole',
    apply(lines) {
      the(calls(lines, 'bookmark')[0]).ok.rest = [{ status: 201 }];
    },
  },
  {
    fault: 'answers with a field that is not documented',
    rule: 'answers-are-whole',
    apply(lines) {
      the(calls(lines, 'comment')[0]).ok.rest = [{ status: 200, id: 1 }];
    },
  },
  {
    fault: 'shows another time of a message on a page',
    rule: 'times-agree',
    apply(lines) {
      the(calls(lines, 'messages').at(-1)?.ok.messages[0]).at += 1;
    },
  },
  {
    fault: 'shows another time of the latest message of a room',
    rule: 'times-agree',
    apply(lines) {
      const rooms = calls(lines, 'rooms').flatMap(({ ok }) => ok.rooms);
      const state = the(rooms.findLast(({ latestAt }) => latestAt !== undefined));
      state.latestAt = the(state.latestAt) - 1;
    },
  },
  {
    fault: 'stores the time of a message by another clock',
    rule: 'times-agree',
    apply(lines) {
      const { id } = the(calls(lines, 'send').at(-1)).ok;
      for (const message of shownMessages(lines)) if (message.id === id) message.at += 60_000;
    },
  },
  {
    fault: 'shows the time of an article anew at each reading',
    rule: 'times-agree',
    apply(lines) {
      the(calls(lines, 'article').at(-1)).ok.at -= 1_000;
    },
  },
  {
    fault: 'shows the time of a comment in another zone',
    rule: 'times-agree',
    apply(lines) {
      for (const { ok } of calls(lines, 'comments')) for (const one of ok.comments) one.at += 3_600_000;
    },
  },
  {
    fault: 'shows the time of a notification in another zone',
    rule: 'times-agree',
    apply(lines) {
      for (const { notification } of events(lines, 'notification')) notification.at += 3_600_000;
    },
  },
  {
    fault: 'lists rooms the other way round',
    rule: 'lists-are-in-order',
    apply: (lines) =>
      void the(
        calls(lines, 'rooms').findLast(({ ok }) => ok.rooms.filter(({ opened }) => !opened).length > 1),
      ).ok.rooms.reverse(),
  },
  {
    fault: 'lists comments the other way round',
    rule: 'lists-are-in-order',
    apply: (lines) => void the(calls(lines, 'comments').at(-1)).ok.comments.reverse(),
  },
  {
    fault: 'lists notifications the other way round',
    rule: 'lists-are-in-order',
    apply(lines) {
      const list = notificationLists(lines).find(({ ok }) => ok.notifications.length > 2);
      the(list).ok.notifications.reverse();
    },
  },
  {
    fault: 'shows a message as unread that its recipient has read',
    rule: 'read-counts',
    apply(lines) {
      const { ok, asked } = the(calls(lines, 'messages').at(-1));
      the(ok.messages.findLast(({ sender }) => sender !== asked.member)).readCount = 1;
    },
  },
  {
    fault: 'shows a message as read before anybody can have read it',
    rule: 'read-counts',
    apply(lines) {
      the(calls(lines, 'send')[0]).ok.readCount = 0;
    },
  },
  {
    fault: 'counts a reading of an article twice',
    rule: 'counters-are-records',
    apply(lines) {
      the(calls(lines, 'article').at(-1)).ok.views += 1;
    },
  },
  {
    fault: 'notifies of a reply as of a comment',
    rule: 'notified-once',
    apply(lines) {
      const all = [
        ...events(lines, 'notification').map(({ notification }) => notification),
        ...calls(lines, 'notifications').flatMap(({ ok }) => ok.notifications),
      ];
      for (const one of all) if (one.type === 'comment') one.type = 'recomment';
    },
  },
  {
    fault: 'notifies in the name of another member',
    rule: 'notified-once',
    apply(lines) {
      the(events(lines, 'notification')[0]).notification.name = 'another';
    },
  },
  {
    fault: 'answers with more messages than were asked for',
    rule: 'same-order-for-all',
    apply(lines) {
      const { ok, asked } = the(calls(lines, 'messages').find((one) => one.ok.messages.length > 1));
      asked.limit = ok.messages.length - 1;
    },
  },
  {
    fault: 'leaves the first message out of the last page',
    rule: 'same-order-for-all',
    apply(lines) {
      const pages = calls(lines, 'messages').filter(({ asked, ok }) => ok.messages.length < asked.limit);
      the(pages.findLast(({ ok }) => ok.messages.length > 1)).ok.messages.shift();
    },
  },
  {
    fault: 'shows a reply below another comment',
    rule: 'comments-are-kept',
    apply(lines) {
      const lists = calls(lines, 'comments').flatMap(({ ok }) => ok.comments);
      const comment = the(lists.findLast(({ deleted }) => !deleted));
      comment.parent = 1_000;
    },
  },
  {
    fault: 'shows a text as an image',
    rule: 'nobody-sent-it',
    apply(lines) {
      the(events(lines, 'message').at(-1)).message.type = 'image';
    },
  },
];
