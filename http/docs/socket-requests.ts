import type { Chat } from '../../domain/chat/index.js';
import type { ErrorCode } from '../../domain/kernel/errors.js';
import { flag, type JsonSchema, listOf, number, ref } from './json-schema.js';

/** What the answer to a join adds; how far the other has read is an event behind it. */
type Joined = Omit<Awaited<ReturnType<Chat['enterRoom']>>, 'otherRead'>;

/** What the documents tell of a client event beside its zod schema. */
export interface SocketRequest {
  summary: string;
  description: string;
  /** What each field means. */
  fields: Record<string, string>;
  example: Record<string, unknown>;
  /** Fields of the acknowledgement beside `status: 200`; undefined: there is no acknowledgement. */
  ack?: Record<string, JsonSchema>;
  /** Errors of its own, the reason as a client reads it. */
  errors: Partial<Record<ErrorCode, string>>;
}

const roomErrors = {
  FORBIDDEN: 'only the participants of this chat room may do that',
  CHAT_ROOM_NOT_FOUND: 'chat room 7 does not exist',
};

const chatNo = 'chat room identifier';

/** Contract, section 5: what a client sends, by event, in its order. */
export const socketRequests: Record<string, SocketRequest> = {
  'room:join': {
    summary: 'Enter a chat room and catch up',
    description:
      'From the acknowledgement on, every message of the room comes to this connection, in order. Marks the messages of the other party read. Join again with `after` after each reconnect.',
    fields: {
      chatNo,
      after: 'the last `seq` the client has: `messages` holds what follows it. Absent: the newest messages',
    },
    example: { chatNo: 7, after: 40 },
    ack: {
      messages: listOf(ref('SocketMessage'), 'at most 500, and 256 KiB of text; oldest first'),
      more: flag('whether there is more than `messages` holds: join again with its last `seq` as `after`'),
      seq: number('number of the newest message of the room', 41),
      present: listOf({ type: 'integer' }, 'numbers of the members who are in the room now'),
    } satisfies Record<keyof Joined, JsonSchema>,
    errors: roomErrors,
  },
  'room:leave': {
    summary: 'Leave a chat room',
    description:
      'This connection hears no more of the room. Presence ends when it was the last of the member in the room.',
    fields: { chatNo },
    example: { chatNo: 7 },
    ack: {},
    errors: roomErrors,
  },
  'message:send': {
    summary: 'Send a message',
    description:
      'Acknowledged when the message is stored. It then comes to every connection in the room, the sender’s too: tell your own by its `id`. The same `clientId` again answers with the first message, so an unanswered send may be repeated safely.',
    fields: {
      chatNo,
      contentType: 'kind of content: text, image or picture (an address), coords ("latitude longitude")',
      content: 'the text, address or coordinates',
      clientId: 'the client’s own name of this message, unique in the room, such as a UUID',
    },
    example: {
      chatNo: 7,
      contentType: 'text',
      content: 'Is Bori still looking for a home?',
      clientId: '6f1c2f0e-1f43-4a53-9d6b-0b7f3f8d2a11',
    },
    ack: { message: ref('SocketMessage') },
    errors: { INVALID_INPUT: 'content: must not be empty', ...roomErrors },
  },
  'message:read': {
    summary: 'Move the read position forward',
    description: 'Everything up to `seq` is read. An older number, or one past the newest, is no fault.',
    fields: { chatNo, seq: 'number of the last message that was read' },
    example: { chatNo: 7, seq: 41 },
    ack: {},
    errors: roomErrors,
  },
  typing: {
    summary: 'Say that somebody is typing',
    description:
      'Passed on to the room as it is, if this connection has joined it. Not acknowledged, and it may be dropped: let it run out on the other side after a few seconds.',
    fields: { chatNo, typing: 'true when typing begins, false when it ends' },
    example: { chatNo: 7, typing: true },
    errors: {},
  },
  'auth:refresh': {
    summary: 'Prolong the connection with a new token',
    description:
      'The new token must be of the same member: one of another member is refused and ends the connection.',
    fields: { token: 'an access token, raw or behind `Bearer`' },
    example: { token: 'ACCESS_TOKEN' },
    ack: {
      expiresAt: number(
        'when the connection ends unless it is prolonged again, epoch milliseconds',
        1_659_371_076_000,
      ),
    },
    errors: {
      UNAUTHORIZED: 'the access token is not valid',
      TOKEN_EXPIRED: 'the access token has expired',
      FORBIDDEN: 'token: is of another member',
    },
  },
};
