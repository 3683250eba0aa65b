import type { RenderRecord } from '../../domain/adoption/index.js';
import type { Chat } from '../../domain/chat/index.js';
import type {
  ArticleDetail,
  ArticleList,
  ArticleSummary,
  CommentView,
  ReplyView,
} from '../../domain/community/index.js';
import { type ErrorBody, listErrorCodes } from '../../domain/kernel/errors.js';
import type { MessagePayload, NotificationView, RoomView } from '../../domain/kernel/live.js';
import { described, flag, type JsonSchema, listOf, number, record, ref, text } from './json-schema.js';

type MessageList = Awaited<ReturnType<Chat['listMessages']>>;
type PushAnswer = Awaited<ReturnType<Chat['pushMessage']>>;

/** A time in examples; its length shows that it is milliseconds. */
const SOME_MS = 1_659_327_876_000;

const publishedAt: JsonSchema = {
  type: 'string',
  description: 'when it was published: ISO 8601 local date-time of the service, no zone offset',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d+$',
  examples: ['2022-08-01T12:34:56.123456'],
};

const contentType: JsonSchema = {
  type: 'string',
  description: 'kind of content: text, an image (an address), a picture (an address) or "latitude longitude"',
  enum: ['text', 'image', 'picture', 'coords'],
};

const readCount: JsonSchema = {
  type: 'integer',
  description: 'how many participants have not read it: 1, then 0',
  enum: [0, 1],
};

const pushFields = {
  id: text('message identifier', '01973f6e-8b1c-7c52-9d0e-5b1f0a6e3d11'),
  chatNo: number('chat room identifier', 7),
  contentType,
  content: text('message content', 'Is Bori still looking for a home?'),
  senderName: text('sender name', 'Minji'),
  senderNo: number('sender member identifier', 3),
  saleNo: number('sale (adoption) post identifier', 12),
  sendTime: number("send time by the server's clock, epoch milliseconds", SOME_MS),
  readCount,
  senderEmail: text('sender e-mail', 'minji@example.org'),
} satisfies Record<keyof PushAnswer, JsonSchema>;

const kindOfComment = (type: 0 | 1): JsonSchema => ({
  type: 'integer',
  description: '0 comment, 1 reply',
  const: type,
});

const commentFields = {
  mine: flag('whether the requesting member is the author'),
  id: number('comment identifier', 31),
  author: text('author nickname', 'Minji'),
  authorId: number('author member identifier', 3),
  context: text('comment text; empty once deleted', 'Congratulations!'),
  profile: text('author profile image URL', 'profile/minji.png'),
  publishedAt,
  like: number('like count', 2),
  deleteStatus: { type: 'integer', description: '0 live, 1 deleted, 2 its author has left', enum: [0, 1, 2] },
  blindStatus: { type: 'integer', description: '0 shown, 1 hidden, 2 hidden for now', enum: [0, 1, 2] },
} satisfies Record<Exclude<keyof ReplyView, 'type'>, JsonSchema>;

/** What the service answers with and sends, field by field: `components.schemas` of both documents. */
export const resources: Record<string, JsonSchema> = {
  ArticleDetail: record<ArticleDetail>('An article as it is read.', {
    id: number('article identifier', 1),
    mine: flag('whether the requesting member is the author; false without a token'),
    header: record<ArticleDetail['header']>('information part', {
      title: text('title', 'Bori found a home'),
      authorId: number('author member identifier', 3),
      username: text('author nickname', 'Minji'),
      profile: text('author profile image reference', 'profile/minji.png'),
      view: number('view count', 120),
      like: number('like count', 14),
      comment: number('comment count', 5),
      publishedAt,
    }),
    context: record<ArticleDetail['context']>('content part', {
      context: text('article body text', 'Three months after adoption …'),
      imageList: listOf(
        record<ArticleDetail['context']['imageList'][number]>('an image', {
          imageNo: number('image identifier; `id` where it is written', 1),
          imageUrl: text('image address; `url` where it is written', 'image/bori.jpg'),
        }),
        'images of the article',
      ),
    }),
  }),

  ArticleSummary: record<ArticleSummary>('An article in a list.', {
    id: number('article identifier', 1),
    title: text('title', 'Bori found a home'),
    context: text('body text', 'Three months after adoption …'),
    author: text('author nickname', 'Minji'),
    view: number('view count', 120),
    comment: number('comment count', 5),
    like: number('like count', 14),
    publishedAt,
    thumbnail: text('thumbnail image URL; the text `NONE` where there is none', 'image/bori-small.jpg'),
  }),

  ArticleList: record<ArticleList>('A page of articles with the two that lead.', {
    hot: {
      anyOf: [ref('ArticleSummary'), { type: 'null' }],
      description:
        'the article with most likes in 24 hours, else the best of all time; null without any article',
    },
    weekly: {
      anyOf: [ref('ArticleSummary'), { type: 'null' }],
      description: 'the same over 7 days',
    },
    list: listOf(ref('ArticleSummary'), 'the page asked for; may be empty'),
  }),

  Comment: record<CommentView>('A comment on an article.', {
    type: kindOfComment(0),
    ...commentFields,
    comments: listOf(ref('Reply'), 'replies to this comment, oldest first'),
  }),

  Reply: record<ReplyView>('A reply to a comment: a comment without replies of its own.', {
    type: kindOfComment(1),
    ...commentFields,
  }),

  ChatRoom: record<RoomView>(
    'A chat room as one participant sees it.',
    {
      chatNo: number('chat room identifier', 7),
      createMember: number('member identifier of the room creator: the author of the sale post', 3),
      joinMember: number('member identifier of the joining member', 5),
      saleNo: number('sale (adoption) post identifier', 12),
      saleTitle: text('sale post title', 'Bori, a gentle Jindo mix'),
      regDate: number('room registration time, epoch milliseconds', SOME_MS),
      participant: record<RoomView['participant']>('the other party', {
        username: text('nickname', 'Minji'),
        profile: text('profile image path', 'profile/minji.png'),
      }),
      latestMessage: record<NonNullable<RoomView['latestMessage']>>(
        'last message; absent while the room is empty',
        {
          context: text('message text', 'Is Bori still looking for a home?'),
          sendAt: number('send time, epoch milliseconds', SOME_MS),
        },
      ),
      unReadCount: number('messages of the other party that the requester has not read', 2),
    },
    ['latestMessage'],
  ),

  ChatMessage: record<MessageList['chatList'][number]>('A message as the room message list returns it.', {
    id: pushFields.id,
    chatRoomNo: number('chat room identifier', 7),
    senderNo: pushFields.senderNo,
    senderName: pushFields.senderName,
    contentType,
    content: text('message text, or an image path', 'Is Bori still looking for a home?'),
    sendDate: number('send time, epoch milliseconds', SOME_MS),
    readCount,
    mine: flag('whether the requester sent it'),
  }),

  MessageList: record<MessageList>('The messages of a room.', {
    email: text("the requesting member's e-mail", 'seojun@example.org'),
    chatList: listOf(ref('ChatMessage'), 'messages, oldest first'),
  }),

  ChatNotification: record<PushAnswer>(
    'A stored message: the pushed payload with every field filled.',
    pushFields,
  ),

  SocketMessage: record<MessagePayload>('The chat notification payload, every field filled, plus `seq`.', {
    ...pushFields,
    seq: number('number of the message in its room: 1, 2, 3 … without a gap', 41),
  }),

  RenderRecord: record<RenderRecord>('An adoption post as the map renders it.', {
    id: number('adoption post identifier: the `saleNo` of chat rooms', 12),
    name: text('animal name', 'Bori'),
    age: text('age as free text', '2살'),
    kind: text('animal kind: the app filters by 강아지 (dog), 고양이 (cat) and 기타 (other)', '강아지'),
    latitude: {
      type: 'number',
      description: 'latitude, decimal degrees',
      minimum: -90,
      maximum: 90,
      examples: [37.5665],
    },
    longitude: {
      type: 'number',
      description: 'longitude, decimal degrees',
      minimum: -180,
      maximum: 180,
      examples: [126.978],
    },
    thumbnail: text('thumbnail reference', 'image/bori-small.jpg'),
    modal: flag('modal flag'),
  }),

  Notification: record<NotificationView>('A notification of a member.', {
    id: number('notification identifier', 88),
    type: {
      type: 'string',
      description: 'what it is about',
      enum: ['announcement', 'documentHot', 'documentWeek', 'chat', 'note', 'comment', 'recomment'],
    },
    content: text('notification text', 'Congratulations!'),
    url: text('redirect URL: a path inside the application, with a leading slash', '/board/1'),
    publishedAt: {
      type: 'array',
      description: 'creation time as six numbers: year, month, day, hour, minute, second',
      items: { type: 'integer' },
      minItems: 6,
      maxItems: 6,
      examples: [[2022, 8, 1, 12, 34, 56]],
    },
    name: text('nickname of the member it comes from; `admin` where it comes from the service', 'Minji'),
    checked: flag('read flag'),
    del: flag('deleted flag'),
  }),

  Done: record<{ status: 200 }>('A mutation that went through.', {
    status: { type: 'integer', description: '200 on success', const: 200 },
  }),

  LikeCount: record<{ status: 200; data: number }>('A like that was given or taken back.', {
    status: { type: 'integer', description: '200 on success', const: 200 },
    data: number('the updated like count', 15),
  }),

  Error: record<ErrorBody>('Every error answer, REST and sockets alike.', {
    status: number('the HTTP status', 404),
    message: {
      type: 'string',
      description: 'a stable code that clients may switch on',
      enum: listErrorCodes().map(({ code }) => code),
    },
    errors: described(
      listOf(text('one fault', 'title: is missing'), ''),
      'what is wrong, one text per fault, naming the field; texts may change',
    ),
  }),
};
