import { done, JSON_TYPE, type Step } from './recording.js';

/** The app reads date-times of the service as UTC. */
const isNowInUtc = (value: unknown) => Math.abs(Date.parse(`${value}Z`) - Date.now()) < 60_000;

/** The board: articles, search, comments, hearts, bookmarks, and what the author is notified of. */
export const board: Step[] = [
  { who: 'server', does: 'renders the board', call: 'GET /community/list/recent?' },
  {
    who: 'author',
    does: 'opens the event stream, with no event to go on from',
    stream: 'open',
    lastEventId: '',
    holds: { '': 'EventStream Created. [userId=$authorNo]' },
  },
  {
    who: 'author',
    does: 'writes an article without an image',
    call: 'POST /community/article',
    body: '{"categoryId":"1","title":"느티나무 아래","context":"보리가 왔어요","imageList":[]}',
    holds: done,
  },
  {
    who: 'server',
    does: 'renders the board, and hides the thumbnail that is called NONE',
    call: 'GET /community/list/recent?',
    holds: {
      'list.0.title': '느티나무 아래',
      'list.0.author': '$authorName',
      'list.0.thumbnail': 'NONE',
      'list.0.publishedAt': isNowInUtc,
    },
    keep: { plain: 'list.0.id' },
  },
  {
    who: 'author',
    does: 'writes an article with an image, and no thumbnail',
    call: 'POST /community/article',
    body: '{"categoryId":"1","title":"보리 소식","context":"느티나무 길을 걸어요","imageList":[{"id":"7","url":"https://cdn.example.org/bori.jpg"}]}',
    holds: done,
  },
  {
    who: 'server',
    does: 'renders the board with the first image as thumbnail',
    call: 'GET /community/list/recent?',
    holds: { 'list.0.title': '보리 소식', 'list.0.thumbnail': 'https://cdn.example.org/bori.jpg' },
    keep: { article: 'list.0.id' },
  },

  {
    who: 'server',
    does: 'searches by title',
    call: 'GET /community/list/recent?&keyword=느티나무&option=1',
    holds: { 'list.length': 1, 'list.0.id': '$plain' },
  },
  {
    who: 'server',
    does: 'searches by text',
    call: 'GET /community/list/recent?&keyword=느티나무&option=2',
    holds: { 'list.length': 1, 'list.0.id': '$article' },
  },
  {
    who: 'server',
    does: 'searches by both, most liked first',
    call: 'GET /community/list/like?&keyword=느티나무&option=3',
    holds: { 'list.length': 2 },
  },
  {
    who: 'asker',
    does: 'turns pages without a search',
    call: 'GET /community/list/recent?page=1&keyword=&option=0',
    holds: { 'list.0.id': '$article', 'list.1.id': '$plain' },
  },
  {
    who: 'asker',
    does: 'turns pages; without an option the keyword is no filter',
    call: 'GET /community/list/recent?page=1&keyword=느티나무&option=0',
    holds: { 'list.0.id': '$article', 'list.1.id': '$plain' },
  },

  {
    who: 'asker',
    does: 'reads the article',
    call: 'GET /community/article/$article',
    holds: {
      mine: false,
      'header.authorId': '$authorNo',
      'header.like': 0,
      'header.publishedAt': isNowInUtc,
      'context.imageList': [{ imageNo: 7, imageUrl: 'https://cdn.example.org/bori.jpg' }],
    },
  },
  {
    who: 'asker',
    does: 'comments, with the number of the page’s address as text',
    call: 'POST /community/comment',
    body: '{"boardId":"$article","parentId":null,"context":"축하해요"}',
    holds: done,
  },
  {
    who: 'author',
    does: 'is told of the comment, with a path that leads there from any page',
    stream: 'next',
    holds: {
      type: 'comment',
      content: '축하해요',
      url: '/board/$article',
      name: '$askerName',
      checked: false,
      del: false,
    },
    keep: { notice: 'id' },
  },
  {
    who: 'author',
    does: 'reads the comments',
    call: 'GET /community/comment/$article',
    holds: { length: 1, '0.type': 0, '0.mine': false, '0.context': '축하해요', '0.comments': [] },
    keep: { comment: '0.id' },
  },
  {
    who: 'author',
    does: 'replies',
    call: 'POST /community/comment',
    body: '{"boardId":"$article","parentId":"$comment","context":"고마워요"}',
    holds: done,
  },
  {
    who: 'asker',
    does: 'changes the comment',
    call: 'PATCH /community/comment',
    body: '{"id":$comment,"context":"정말 축하해요"}',
    holds: done,
  },
  {
    who: 'asker',
    does: 'reads the comments with their replies',
    call: 'GET /community/comment/$article',
    holds: {
      '0.mine': true,
      '0.context': '정말 축하해요',
      '0.comments.length': 1,
      '0.comments.0.type': 1,
      '0.comments.0.author': '$authorName',
    },
  },

  {
    who: 'asker',
    does: 'gives the article a heart',
    call: 'POST /community/heart',
    body: '{"target":"article","id":$article}',
    holds: { '': { status: 200, data: 1 } },
  },
  {
    who: 'asker',
    does: 'gives it again, which is how the app finds out that it is given',
    call: 'POST /community/heart',
    body: '{"target":"article","id":$article}',
    status: 409,
    holds: { status: 409, message: 'ALREADY_HEARTED' },
  },
  {
    who: 'asker',
    does: 'takes it back, under the content type of a body that is not there',
    call: 'DELETE /community/heart/article/$article',
    type: JSON_TYPE,
    holds: { '': { status: 200, data: 0 } },
  },
  {
    who: 'author',
    does: 'gives the comment a heart',
    call: 'POST /community/heart',
    body: '{"target":"comment","id":$comment}',
    holds: { '': { status: 200, data: 1 } },
  },
  {
    who: 'asker',
    does: 'bookmarks the article',
    call: 'POST /community/bookmark/$article',
    holds: done,
  },
  {
    who: 'asker',
    does: 'takes the bookmark back',
    call: 'DELETE /community/bookmark/$article',
    holds: done,
  },
];
