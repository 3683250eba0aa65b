import { done, FORM_TYPE, JSON_TYPE, type Kept, type Step } from './recording.js';

/** A receiver's copy of the broadcast, with its own address instead of the sender's. */
const postedBackBy = (address: string) => (kept: Kept) =>
  JSON.stringify({ ...(kept.broadcast as object), senderEmail: kept[address] });

/** Such a copy without an id: only its addresses tell it from a new message. */
const postedBackWithoutId = (kept: Kept) =>
  JSON.stringify({ ...(kept.broadcast as object), id: null, senderEmail: kept.authorEmail });

function push(content: string): string {
  return `{"id":null,"chatNo":"$room","contentType":"text","content":"${content}","senderName":null,"senderNo":null,"saleNo":"$sale","sendTime":"$now","readCount":null,"senderEmail":null}`;
}

const emailForm = (kept: Kept) => new URLSearchParams({ email: String(kept.authorEmail) }).toString();

/** The author enters the room and leaves it by a form, under each content type the app has given it. */
const comingsAndGoings: Step[] = [FORM_TYPE, JSON_TYPE].flatMap((type): Step[] => [
  { who: 'author', does: 'enters the room', join: '$room' },
  {
    who: 'asker',
    does: 'sees the author come',
    hears: 'presence',
    holds: { memberNo: '$authorNo', present: true },
  },
  {
    who: 'author',
    does: `leaves the room by a form that is called ${type}`,
    call: 'POST /chatroom/$room',
    token: false,
    type,
    body: emailForm,
    holds: done,
  },
  {
    who: 'asker',
    does: 'sees the author go',
    hears: 'presence',
    holds: { memberNo: '$authorNo', present: false },
  },
]);

/** A chat about an adoption post. Continues after the notifications: the author's stream is open. */
export const chat: Step[] = [
  {
    who: 'asker',
    does: 'looks at the map',
    call: 'GET /adopt/render?_csrf=0b5c2c2e-6a3f-4a5e-9f0d-2f6d1c0e8b11',
    token: false,
    holds: { '': (posts) => (posts as object[]).length > 0 },
  },
  {
    who: 'asker',
    does: 'looks for a room about the post',
    call: 'GET /chatroom?saleNo=$sale',
    holds: { '': [] },
  },
  {
    who: 'asker',
    does: 'opens one',
    call: 'POST /chatroom',
    body: '{"createMember":$authorNo,"saleNo":"$sale"}',
    holds: done,
  },
  {
    who: 'asker',
    does: 'finds it; nothing has been said yet',
    call: 'GET /chatroom?saleNo=$sale',
    holds: { length: 1, '0.createMember': '$authorNo', '0.latestMessage': undefined },
    keep: { room: '0.chatNo' },
  },
  {
    who: 'asker',
    does: 'enters the page of the room, which tells the app the e-mail address',
    call: 'GET /chatroom/$room',
    holds: { '': { email: '$askerEmail', chatList: [] } },
  },
  { who: 'asker', does: 'enters the room', join: '$room' },
  {
    who: 'author',
    does: 'enters the page of the room',
    call: 'GET /chatroom/$room',
    holds: { email: '$authorEmail' },
  },
  ...comingsAndGoings,
  { who: 'author', does: 'enters the room', join: '$room' },

  {
    who: 'asker',
    does: 'writes, without a token, with numbers as text',
    call: 'POST /chatroom/notification',
    token: false,
    body: push('보리는 잘 있나요?'),
    holds: {
      chatNo: '$room',
      saleNo: '$sale',
      senderNo: '$askerNo',
      senderName: '$askerName',
      // The client may be shared, so the answer shows no address that was not sent.
      senderEmail: '',
      readCount: 0,
    },
    keep: { message: 'id', stored: '' },
  },
  {
    who: 'author',
    does: 'hears it',
    hears: 'message',
    holds: { id: '$message', content: '보리는 잘 있나요?', seq: 1 },
    keep: { broadcast: '' },
  },
  {
    who: 'author',
    does: 'posts it back',
    call: 'POST /chatroom/notification',
    token: false,
    body: postedBackBy('authorEmail'),
    holds: { '': '$stored' },
  },
  { who: 'asker', does: 'hears it', hears: 'message', holds: { id: '$message' } },
  {
    who: 'asker',
    does: 'posts it back',
    call: 'POST /chatroom/notification',
    token: false,
    body: postedBackBy('askerEmail'),
    holds: { id: '$message', senderEmail: '$askerEmail' },
  },
  {
    who: 'author',
    does: 'posts back a copy without its id',
    call: 'POST /chatroom/notification',
    token: false,
    body: postedBackWithoutId,
    holds: { '': '$stored' },
  },
  {
    who: 'author',
    does: 'posts it back before the page has loaded, so without an address',
    call: 'POST /chatroom/notification',
    token: false,
    body: (kept) => JSON.stringify({ ...(kept.broadcast as object), senderEmail: '' }),
    holds: { '': '$stored' },
  },
  {
    who: 'asker',
    does: 'finds one message in the room',
    call: 'GET /chatroom/$room',
    holds: {
      'chatList.length': 1,
      'chatList.0.id': '$message',
      'chatList.0.mine': true,
      'chatList.0.readCount': 0,
    },
  },

  {
    who: 'author',
    does: 'closes the page',
    call: 'POST /chatroom/$room?email=$authorEmail',
    token: false,
    holds: done,
  },
  {
    who: 'asker',
    does: 'sees the author go',
    hears: 'presence',
    holds: { memberNo: '$authorNo', present: false },
  },
  {
    who: 'asker',
    does: 'writes to the author who is away, in the same millisecond as before',
    call: 'POST /chatroom/notification',
    token: false,
    body: push('언제 볼 수 있을까요?'),
    holds: { readCount: 1, content: '언제 볼 수 있을까요?' },
    keep: { second: 'id' },
  },
  {
    who: 'author',
    does: 'is told of the message, with a path that leads to the room from any page',
    stream: 'next',
    holds: {
      type: 'chat',
      content: '언제 볼 수 있을까요?',
      url: '/chat/$room?adoptId=$sale',
      name: '$askerName',
    },
  },
  { who: 'asker', does: 'hears it', hears: 'message', holds: { id: '$second', seq: 2 } },
  {
    who: 'author',
    does: 'lists the rooms',
    call: 'GET /chatroom',
    holds: {
      length: 1,
      '0.unReadCount': 1,
      '0.latestMessage.context': '언제 볼 수 있을까요?',
      '0.participant.username': '$askerName',
    },
  },
  {
    who: 'author',
    does: 'enters the page of the room, which reads the message',
    call: 'GET /chatroom/$room',
    holds: { 'chatList.length': 2, 'chatList.1.id': '$second', 'chatList.1.mine': false },
  },
  {
    who: 'author',
    does: 'has no unread message left',
    call: 'GET /chatroom',
    holds: { '0.unReadCount': 0 },
  },

  {
    who: 'author',
    does: 'deletes the article',
    call: 'DELETE /community/article/$article',
    type: JSON_TYPE,
    holds: done,
  },
  {
    who: 'asker',
    does: 'does not find it any more',
    call: 'GET /community/article/$article',
    status: 404,
    holds: { status: 404, message: 'ARTICLE_NOT_FOUND' },
  },
];
