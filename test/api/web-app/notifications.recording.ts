import { done, JSON_TYPE, type Step } from './recording.js';

interface Listed {
  id: number;
  type: string;
  content: string;
  checked: boolean;
}

/** The comments among the notifications: whether an article is hot depends on the rest of the board. */
const commentsIn = (list: unknown) => (list as Listed[]).filter(({ type }) => type === 'comment');

/** The stream, which is reopened and cut, and the list of notifications. Continues after the board. */
export const notifications: Step[] = [
  { who: 'author', does: 'leaves the page', stream: 'close' },
  {
    who: 'asker',
    does: 'comments on the closed page',
    call: 'POST /community/comment',
    body: '{"boardId":"$article","parentId":null,"context":"하나"}',
    holds: done,
  },
  {
    who: 'author',
    does: 'opens the page again, with the last event in the header',
    stream: 'open',
    lastEventId: '$lastEventId',
    holds: { '': 'EventStream Created. [userId=$authorNo]' },
  },
  {
    who: 'author',
    does: 'gets what came meanwhile',
    stream: 'next',
    holds: { type: 'comment', content: '하나' },
  },
  { who: 'author', does: 'loses the connection', stream: 'lose' },
  {
    who: 'asker',
    does: 'comments while the author is away',
    call: 'POST /community/comment',
    body: '{"boardId":"$article","parentId":null,"context":"둘"}',
    holds: done,
  },
  {
    who: 'asker',
    does: 'comments again',
    call: 'POST /community/comment',
    body: '{"boardId":"$article","parentId":0,"context":"셋"}',
    holds: done,
  },
  {
    who: 'author',
    does: 'is back by itself, with the old header and the last event in the query',
    stream: 'next',
    holds: { '': 'EventStream Created. [userId=$authorNo]' },
  },
  {
    who: 'author',
    does: 'gets the first that was missed',
    stream: 'next',
    holds: { type: 'comment', content: '둘' },
  },
  {
    who: 'author',
    does: 'gets the second that was missed',
    stream: 'next',
    holds: { type: 'comment', content: '셋' },
    keep: { third: 'id' },
  },
  {
    who: 'asker',
    does: 'comments once more',
    call: 'POST /community/comment',
    body: '{"boardId":"$article","parentId":null,"context":"넷"}',
    holds: done,
  },
  {
    who: 'author',
    does: 'gets what is new',
    stream: 'next',
    holds: { type: 'comment', content: '넷' },
    keep: { fourth: 'id' },
  },

  {
    who: 'author',
    does: 'lists the notifications',
    call: 'GET /notification/all',
    holds: {
      '': (list) =>
        commentsIn(list)
          .map(({ content }) => content)
          .join() === '넷,셋,둘,하나,축하해요',
    },
  },
  {
    who: 'author',
    does: 'follows one of them',
    call: 'PATCH /notification/checked/$notice',
    type: JSON_TYPE,
    holds: done,
  },
  {
    who: 'author',
    does: 'deletes two',
    call: 'POST /notification',
    body: '{"idList":["$third",$fourth]}',
    holds: done,
  },
  {
    who: 'author',
    does: 'lists what is left',
    call: 'GET /notification/all',
    holds: {
      '': (list, { notice }) =>
        commentsIn(list)
          .map(({ id, content, checked }) => content + (id === notice && checked ? ' ✓' : ''))
          .join() === '둘,하나,축하해요 ✓',
    },
  },
  {
    who: 'asker',
    does: 'was told of the reply',
    call: 'GET /notification/all',
    holds: { length: 1, '0.type': 'recomment', '0.url': '/board/$article', '0.content': '고마워요' },
  },
];
