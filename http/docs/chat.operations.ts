import { MAX_LISTED } from '../../domain/chat/index.js';
import { disconnectFields, echoBody, pushBody } from '../chat/chat.schema.js';
import { described, listOf, ref } from './json-schema.js';
import { done, type OperationTable } from './operation.js';

const noRoom = { CHAT_ROOM_NOT_FOUND: 'chat room 7 does not exist' };
const notMine = { FORBIDDEN: 'only the participants of this chat room may do that' };

const chatNo = { description: 'chat room identifier', example: 7 };

/** Interface, "Chat", in its order. */
export const chatOperations: OperationTable = {
  'POST /chatroom': {
    id: 'createChatRoom',
    tag: 'Chat',
    summary: 'Create chat room',
    description:
      'Opens a room of two members about a sale (adoption) post: its author is the creating member, the caller joins. The same pair and post again keeps the one room. The number of the room is in the room list, and in the `room` event that both get.',
    body: {
      fields: {
        saleNo: 'sale (adoption) post identifier',
        createMember:
          'member identifier of the author of the post, or of the caller: the author is the other party then',
      },
      example: { saleNo: 12, createMember: 3 },
    },
    answer: done,
    errors: {
      INVALID_INPUT: 'createMember: must be the author of the adoption post or the caller',
      SALE_NOT_FOUND: 'saleNo: adoption post 12 does not exist',
    },
  },
  'POST /chatroom/notification': {
    id: 'pushChatNotification',
    tag: 'Chat',
    summary: 'Push chat notification',
    description:
      'Stores and delivers a message exactly as a socket does, and answers with every field filled. A retry (same room, sender, `sendTime` and content) answers with the first message; a `sendTime` more than a day from now tells no retry. A message with its `id` is a broadcast posted back: it is answered with the stored message and neither stored nor notified again. A broadcast posted back without its `id` is answered so, too: it names a sender, and its content and `sendTime` are those of a stored message; where it names the other participant, the content alone will do. No Authorization header is needed: without one the sender is the participant of the session cookie, or the one last seen authenticated from this client in the last 30 minutes; `senderNo` and `senderEmail` may pick among these. A page of an origin that is not allowed has neither.',
    body: {
      schemas: [
        { schema: pushBody, title: 'A new message' },
        { schema: echoBody, title: 'A broadcast posted back' },
      ],
      fields: {
        id: 'message identifier: null for a new message',
        chatNo: 'chat room identifier',
        saleNo: 'sale post identifier; where sent, it must be the room’s',
        contentType: 'kind of content',
        content: 'message content; for coords "latitude longitude" in decimal degrees',
        sendTime:
          'send time by the sender’s clock, epoch milliseconds; tells a retry from a new message. A date-time in text (ISO 8601, in UTC where it has no zone) is that moment',
        senderNo: 'null, or the participant who sends',
        senderEmail: 'null or empty, or the e-mail of the participant who sends',
      },
      ignored: {
        senderName: 'null, or anything: the server fills it',
        readCount: 'null, or anything: the server fills it',
      },
      example: {
        id: null,
        chatNo: 7,
        contentType: 'text',
        content: 'Is Bori still looking for a home?',
        senderName: null,
        senderNo: null,
        saleNo: 12,
        sendTime: 1_659_327_876_000,
        readCount: null,
        senderEmail: null,
      },
    },
    answer: { description: 'The stored message.', schema: ref('ChatNotification') },
    errors: {
      UNAUTHORIZED: 'no participant of this chat room is known behind this call: send a token',
      ...notMine,
      CHAT_ROOM_NOT_FOUND: noRoom.CHAT_ROOM_NOT_FOUND,
      MESSAGE_NOT_FOUND: 'id: chat room 7 holds no such message',
    },
    cookie: true,
  },
  'POST /chatroom/{chat_no}': {
    id: 'disconnectFromRoom',
    tag: 'Chat',
    summary: 'Disconnect from room',
    description:
      'Takes a member out of a room: presence ends and their sockets leave it, on every process. The body is form-encoded whatever its content type says; JSON and `?email=` work too. From anybody but the member (token, session cookie or bound client) it changes nothing that a live socket holds; a caller who is not known gets the same answer whatever the room and the address.',
    parameters: { chat_no: chatNo },
    body: {
      schemas: [{ schema: disconnectFields, title: 'Disconnect' }],
      contentTypes: ['application/x-www-form-urlencoded', 'application/json'],
      fields: { email: 'e-mail of the member who leaves, URL-encoded in a form' },
      example: { email: 'seojun@example.org' },
    },
    answer: done,
    errors: {
      INVALID_INPUT: 'email: is missing',
      CHAT_ROOM_NOT_FOUND: 'email: takes no part in chat room 7',
    },
    cookie: true,
  },
  'GET /chatroom': {
    id: 'listChatRooms',
    tag: 'Chat',
    summary: 'List chat rooms',
    description: 'Returns the rooms of the calling member, the one with the newest activity first.',
    parameters: { saleNo: { description: 'only rooms about this sale post' } },
    answer: {
      description: 'The rooms.',
      schema: described(listOf(ref('ChatRoom'), ''), 'rooms, newest activity first'),
    },
    errors: {},
  },
  'GET /chatroom/{chat_no}': {
    id: 'listMessages',
    tag: 'Chat',
    summary: 'List messages of a room',
    description: `Marks the other party's messages read, then returns the latest ${MAX_LISTED} messages, oldest first. For older ones, send the id of the oldest you have as \`before\`.`,
    parameters: {
      chat_no: chatNo,
      limit: {
        description: 'most messages to return',
        bounds: { maximum: MAX_LISTED, default: MAX_LISTED },
      },
      before: { description: 'only messages before the one with this id' },
    },
    answer: { description: 'The messages.', schema: ref('MessageList') },
    errors: { ...notMine, ...noRoom, MESSAGE_NOT_FOUND: 'before: chat room 7 holds no such message' },
  },
};
