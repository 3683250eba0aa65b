import { z } from 'zod';
import { checkContent, messageFields } from '../domain/chat/index.js';
import type { ErrorBody } from '../domain/kernel/errors.js';
import { id, text, wholeNumber } from '../domain/kernel/input.js';
import { messagePayload, notificationView, roomView } from '../domain/kernel/live.js';
import { listCloseReasons } from './connection/close-reasons.js';

const chatNo = id.meta({ description: 'chat room identifier', example: 7 });
const seq = wholeNumber().meta({ description: 'number of the last message that was read', example: 41 });
const token = z.string('must be text').min(1, 'must not be empty');
const noFields = z.object({});

/** Fields of a push. */
const ofRoom = { chatNo: z.int().meta({ description: 'chat room identifier', example: 7 }) };
const memberNo = (whose: string) => z.int().meta({ description: `member identifier ${whose}`, example: 3 });
const epochMs = (description: string) => z.int().meta({ description, example: 1_659_371_076_000 });

/** Why `typing` is refused. */
export const NOT_JOINED = 'chatNo: this connection has not joined the room';

const roomErrors = {
  FORBIDDEN: 'only the participants of this chat room may do that',
  CHAT_ROOM_NOT_FOUND: 'chat room 7 does not exist',
};

/**
 * Client to server, in the order of contract section 5; PROTOCOL.md shows a sample session. `ack` are the
 * fields besides `status: 200`. `errors` are those beyond the errors
 * of any request, each with a reason as an example. The texts are those of the API documents.
 */
export const requests = {
  'room:join': {
    summary: 'Enter a chat room and catch up',
    description:
      'From the acknowledgement on, every message of the room comes to this connection, in order. Marks the messages of the other party read. Join again with `after` after each reconnect.',
    request: z.object({
      chatNo,
      after: wholeNumber().optional().meta({
        description:
          'the last `seq` the client has: `messages` holds what follows it. Absent, or above the `seq` of the room: the newest messages',
        example: 40,
      }),
      afterId: text(64).optional().meta({
        description:
          'the `id` of the message with that `seq`. If that message is another one, numbers have begun anew: the newest messages',
        example: '01a1fdaf-659c-7225-8364-a17b426e53dd',
      }),
    }),
    ack: z.object({
      messages: z
        .array(messagePayload)
        .meta({ description: 'at most 500, and 256 KiB of text; oldest first' }),
      from: z.enum(['after', 'newest']).meta({
        description:
          'what `messages` are. `after`: those that follow the `seq` the client has. `newest`: the newest of the room; they take ' +
          'the place of what the client has, and `seq` that of its number',
      }),
      more: z.boolean().meta({
        description:
          'whether there are more than `messages`. With `from` `after` newer ones: join again with the last `seq` of `messages`. ' +
          'With `newest` older ones, which `GET /chatroom/{chat_no}?before={id}` reads',
      }),
      seq: z.int().meta({ description: 'number of the newest message of the room', example: 41 }),
      present: z.array(z.int()).meta({ description: 'numbers of the members who are in the room now' }),
    }),
    errors: roomErrors,
  },
  'room:leave': {
    summary: 'Leave a chat room',
    description:
      'This connection receives no more of the room. Presence ends with the last connection of the member in the room.',
    request: z.object({ chatNo }),
    ack: noFields,
    errors: roomErrors,
  },
  'message:send': {
    summary: 'Send a message',
    description:
      'Acknowledged when the message is stored. It then comes to every connection in the room, the sender’s too: tell your own by its `id`. The same `clientId` again answers with the first message, so an unanswered send may be repeated safely.',
    request: z
      .object({
        chatNo,
        ...messageFields,
        clientId: text(64).optional().meta({
          description: 'the client’s own name of this message, unique in the room, such as a UUID',
          example: '6f1c2f0e-1f43-4a53-9d6b-0b7f3f8d2a11',
        }),
      })
      .superRefine(checkContent),
    ack: z.object({ message: messagePayload }),
    errors: {
      INVALID_INPUT: 'content: must not be empty',
      ...roomErrors,
      QUOTA_EXCEEDED: 'more than 5000 messages in 24 h',
    },
  },
  'message:read': {
    summary: 'Move the read position forward',
    description: 'Everything up to `seq` is read. An older number, or one past the newest, is no fault.',
    request: z.object({ chatNo, seq }),
    ack: noFields,
    errors: roomErrors,
  },
  typing: {
    summary: 'Say that somebody is typing',
    description:
      'Passed on to the room, which this connection has joined. It may be dropped, so an app sends it volatile and asks for no acknowledgement: let it expire on the other side after a few seconds.',
    request: z.object({
      chatNo,
      typing: z
        .boolean('must be true or false')
        .meta({ description: 'true when typing begins, false when it ends', example: true }),
    }),
    ack: noFields,
    errors: { FORBIDDEN: NOT_JOINED },
  },
  'auth:refresh': {
    summary: 'Prolong the connection with a new token',
    description:
      'The new token must be of the same member: one of another member is refused and ends the connection.',
    request: z.object({
      token: token.meta({ description: 'an access token, raw or behind `Bearer`', example: 'ACCESS_TOKEN' }),
    }),
    ack: z.object({
      expiresAt: epochMs('when the connection ends unless it is prolonged again, epoch milliseconds'),
    }),
    errors: {
      UNAUTHORIZED: 'the access token is not valid',
      TOKEN_EXPIRED: 'the access token has expired',
      FORBIDDEN: 'token: is of another member',
    },
  },
};

/** Server to client, in the order of contract section 5. */
export const pushes = {
  message: {
    summary: 'A message of a joined room',
    description:
      'To every connection in the room. Drop one whose `seq` you have. After a gap in `seq`, join the room again with `after`.',
    payload: messagePayload,
  },
  'message:read': {
    summary: 'A read position moved forward',
    description: 'To every connection in the room: messages up to `seq` have been read by this member.',
    payload: z.object({
      ...ofRoom,
      memberNo: memberNo('of the reader'),
      seq: z.int().meta({ description: 'number of the last message read', example: 41 }),
    }),
  },
  typing: {
    summary: 'A member is typing',
    description: 'To every connection in the room, the typing one too. May be lost.',
    payload: z.object({
      ...ofRoom,
      memberNo: memberNo('of who is typing'),
      typing: z.boolean().meta({ description: 'whether typing goes on' }),
    }),
  },
  presence: {
    summary: 'A member entered or left the room',
    description:
      'To every connection in the room: with the first device of a member that enters, and the last that leaves.',
    payload: z.object({
      ...ofRoom,
      memberNo: memberNo('of who entered or left'),
      present: z.boolean().meta({ description: 'whether the member is in the room now' }),
    }),
  },
  room: {
    summary: 'A room of the member changed',
    description:
      'To every connection of the member: a new room, a new latest message, another unread count. It is state: at most one per room in 250 ms, the latest always arrives.',
    payload: roomView,
  },
  notification: {
    summary: 'A notification',
    description: 'To every connection of the member; the same record as on the event stream.',
    payload: notificationView,
  },
  drain: {
    summary: 'The server process is shutting down',
    description: 'The connection closes within the time given: reconnect at a random moment of it.',
    payload: z.object({
      retryAfterMs: z
        .int()
        .meta({ description: 'milliseconds over which to spread the reconnects', example: 5_000 }),
    }),
  },
  'auth:expiring': {
    summary: 'The token ends soon',
    description: 'A minute before the token ends: send `auth:refresh`.',
    payload: z.object({ expiresAt: epochMs('when the token ends, epoch milliseconds') }),
  },
  closing: {
    summary: 'The server closes this connection',
    description: `The last event before the server disconnects. ${listCloseReasons()
      .map((reason) => `${reason.code}: ${reason.text}.`)
      .join(' ')}`,
    payload: z.object({
      code: z.enum(listCloseReasons().map(({ code }) => code)).meta({ description: 'a stable code' }),
      reconnect: z.boolean().meta({ description: 'whether the same client may reconnect as it is' }),
      text: z.string().meta({
        description: 'the same in words',
        examples: listCloseReasons().map((reason) => reason.text),
      }),
    }),
  },
};

/** The answer to a request: the fields of `T` and `status: 200`, or an error body. */
export type Answer<T = object> = ({ status: 200 } & T) | (ErrorBody & { retryAfterMs?: number });

/** Listeners by client event. */
export type ClientEvents = {
  [E in keyof typeof requests]: (
    request: z.output<(typeof requests)[E]['request']>,
    ack?: (answer: Answer<z.output<(typeof requests)[E]['ack']>>) => void,
  ) => void;
};

/** Listeners by server event. */
export type ServerEvents = {
  [E in keyof typeof pushes]: (payload: z.output<(typeof pushes)[E]['payload']>) => void;
};
