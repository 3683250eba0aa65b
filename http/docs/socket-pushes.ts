import { flag, type JsonSchema, number, record, ref } from './json-schema.js';

/** What the documents tell of an event that the server sends. */
export interface SocketPush {
  summary: string;
  description: string;
  payload: JsonSchema;
}

/** A close reason as the gateway knows it. */
export interface CloseReasonNote {
  code: string;
  reconnect: boolean;
  text: string;
}

const chatNo = number('chat room identifier', 7);
const memberNo = (whose: string) => number(`member identifier ${whose}`, 3);
const millis = (description: string) => number(description, 1_659_371_076_000);

/** Contract, section 5: what the server sends, by event, in its order. */
export function socketPushes(closeReasons: readonly CloseReasonNote[]): Record<string, SocketPush> {
  return {
    message: {
      summary: 'A message of a joined room',
      description:
        'To every connection in the room. Drop one whose `seq` you have. After a gap in `seq`, join the room again with `after`.',
      payload: ref('SocketMessage'),
    },
    'message:read': {
      summary: 'A read position moved forward',
      description: 'To every connection in the room: messages up to `seq` have been read by this member.',
      payload: record<{ chatNo: number; memberNo: number; seq: number }>('a read position', {
        chatNo,
        memberNo: memberNo('of the reader'),
        seq: number('number of the last message read', 41),
      }),
    },
    typing: {
      summary: 'A member is typing',
      description: 'To every connection in the room, the typing one too. May be lost.',
      payload: record<{ chatNo: number; memberNo: number; typing: boolean }>('who is typing', {
        chatNo,
        memberNo: memberNo('of who is typing'),
        typing: flag('whether typing goes on'),
      }),
    },
    presence: {
      summary: 'A member entered or left the room',
      description:
        'To every connection in the room: with the first device of a member that enters, and the last that leaves.',
      payload: record<{ chatNo: number; memberNo: number; present: boolean }>('who is present', {
        chatNo,
        memberNo: memberNo('of who came or went'),
        present: flag('whether the member is in the room now'),
      }),
    },
    room: {
      summary: 'A room of the member changed',
      description:
        'To every connection of the member: a new room, a new latest message, another unread count. It is state: at most one per room in 250 ms, the latest always arrives.',
      payload: ref('ChatRoom'),
    },
    notification: {
      summary: 'A notification',
      description: 'To every connection of the member; the same record as on the event stream.',
      payload: ref('Notification'),
    },
    drain: {
      summary: 'The server process is going',
      description: 'The connection closes within the time given: come back at a random moment of it.',
      payload: record<{ retryAfterMs: number }>('when to come back', {
        retryAfterMs: number('milliseconds over which to spread the return', 5_000),
      }),
    },
    'auth:expiring': {
      summary: 'The token ends soon',
      description: 'A minute before the token ends: send `auth:refresh`.',
      payload: record<{ expiresAt: number }>('when the connection ends', {
        expiresAt: millis('when the token ends, epoch milliseconds'),
      }),
    },
    closing: {
      summary: 'The server closes this connection',
      description: `The last event before the server disconnects. ${closeReasons
        .map(({ code, text }) => `${code}: ${text}.`)
        .join(' ')}`,
      payload: record<CloseReasonNote>('why', {
        code: {
          type: 'string',
          description: 'a stable code',
          enum: closeReasons.map(({ code }) => code),
        },
        reconnect: flag('whether the same client may come back as it is'),
        text: {
          type: 'string',
          description: 'the same in words',
          examples: closeReasons.map((reason) => reason.text),
        },
      }),
    },
  };
}
