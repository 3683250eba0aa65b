import type { z } from 'zod';
import { about } from './about.js';
import type { AsyncApiDocument } from './documents.js';
import { ref, schemasUsedIn, text } from './json-schema.js';
import { notificationOperations } from './member.operations.js';
import { ackMessage, errorAck, pushMessage, requestMessage } from './messages.js';
import { resources } from './resources.js';
import { type CloseReasonNote, socketPushes } from './socket-pushes.js';
import { socketRequests } from './socket-requests.js';

/** What the documents and the demo page are told of the gateway, which http does not import. */
export interface SocketDescription {
  /** Where it listens. */
  port: number;
  /** Every event a client may send. */
  events: readonly { event: string; schema: z.ZodType }[];
  closeReasons: readonly CloseReasonNote[];
}

const INTRODUCTION = `Live traffic of the service: Socket.IO 4 (path \`/socket.io/\`, namespace \`/\`), and the event stream of notifications. REST calls are in /openapi.json.

**Connecting.** The access token goes in \`auth.token\` or the \`Authorization\` header. A refused connection gets \`connect_error\` whose \`data\` is the error body. A connection that is not let in within 10 s is closed.

**Requests.** Each client event takes one object and an acknowledgement function, which is called with \`{"status":200, …}\` or with the error body; a retryable error has \`retryAfterMs\` beside it. Where a request takes an integer, text of digits (\`"42"\`) counts as that number. Binary data is refused.

**Order.** Messages of a room are numbered 1, 2, 3 … by \`seq\`. The database is the truth and an event is a hint about it: drop a number you have, and after a gap or a reconnect join the room again with the last number you have as \`after\`, until \`more\` is false.`;

const REFUSAL =
  'The error event of a Socket.IO client: `message` is the code, `data` the error body. Codes: UNAUTHORIZED, TOKEN_EXPIRED, RATE_LIMITED, SERVICE_UNAVAILABLE. A foreign origin is refused with HTTP 403 before that.';

/** Keys of an AsyncAPI document take no colon. */
const keyOf = (event: string): string => event.replace(':', '.');

interface Parts {
  messages: AsyncApiDocument['channels']['socket']['messages'];
  operations: AsyncApiDocument['operations'];
}

const channel = (name: string) => ({ $ref: `#/channels/${name}` });
const messageRef = (name: string, key: string) => ({
  $ref: `#/channels/${name}/messages/${key}`,
});

/** Client events; the service is the application described, so it receives them. */
function requestParts(events: SocketDescription['events']): Parts {
  const parts: Parts = { messages: {}, operations: {} };
  const schemas = new Map(events.map(({ event, schema }) => [event, schema]));
  for (const [event, note] of Object.entries(socketRequests)) {
    const schema = schemas.get(event);
    if (!schema) throw new Error(`${event} is documented and not served`);
    schemas.delete(event);
    const key = keyOf(event);
    parts.messages[key] = requestMessage(event, schema, note);
    if (note.ack) parts.messages[`${key}.ack`] = ackMessage(event, note);
    parts.operations[`receive.${key}`] = {
      action: 'receive',
      channel: channel('socket'),
      title: event,
      summary: note.summary,
      description: note.description,
      messages: [messageRef('socket', key)],
      ...(note.ack
        ? { reply: { channel: channel('socket'), messages: [messageRef('socket', `${key}.ack`)] } }
        : {}),
    };
  }
  if (schemas.size > 0) throw new Error(`served and not documented: ${[...schemas.keys()].join(', ')}`);
  return parts;
}

function pushParts(closeReasons: readonly CloseReasonNote[]): Parts {
  const parts: Parts = { messages: {}, operations: {} };
  const pushes = Object.entries(socketPushes(closeReasons));
  for (const [event, { summary, description, payload }] of pushes) {
    const key = `server.${keyOf(event)}`;
    parts.messages[key] = pushMessage(event, summary, description, payload);
    parts.operations[`send.${keyOf(event)}`] = {
      action: 'send',
      channel: channel('socket'),
      title: event,
      summary,
      description,
      messages: [messageRef('socket', key)],
    };
  }
  parts.messages['server.connect_error'] = {
    name: 'connect_error',
    title: 'The connection was refused',
    summary: REFUSAL,
    contentType: 'application/json',
    payload: {
      type: 'object',
      properties: { message: text('the code', 'TOKEN_EXPIRED'), data: ref('Error') },
      required: ['message', 'data'],
      additionalProperties: false,
    },
    examples: [
      {
        name: 'expired',
        payload: {
          message: 'TOKEN_EXPIRED',
          data: { status: 401, message: 'TOKEN_EXPIRED', errors: ['the access token has expired'] },
        },
      },
    ],
  };
  parts.operations['send.connect_error'] = {
    action: 'send',
    channel: channel('socket'),
    title: 'connect_error',
    summary: 'The connection was refused',
    description: REFUSAL,
    messages: [messageRef('socket', 'server.connect_error')],
  };
  return parts;
}

function streamParts(): Parts {
  const stream = notificationOperations['GET /notification/connect'];
  return {
    messages: {
      created: {
        name: 'sse',
        title: 'The stream is open',
        summary: 'The first event; its id is where the stream goes on from.',
        contentType: 'text/plain',
        payload: {
          type: 'string',
          pattern: '^EventStream Created\\. \\[userId=\\d+\\]$',
          examples: ['EventStream Created. [userId=5]'],
        },
        examples: [{ name: 'created', payload: 'EventStream Created. [userId=5]' }],
      },
      notification: pushMessage(
        'sse',
        'A notification',
        'Each later event; its id is `{memberNo}_{n}`, n rising.',
        ref('Notification'),
      ),
    },
    operations: {
      'send.sse': {
        action: 'send',
        channel: channel('eventStream'),
        title: 'sse',
        summary: stream.summary,
        description: stream.description,
        messages: [messageRef('eventStream', 'created'), messageRef('eventStream', 'notification')],
      },
    },
  };
}

/**
 * The AsyncAPI 3.1 document: what clients send from the gateway's own schemas, everything else from
 * the tables.
 *
 * @throws Error where tables and events disagree
 */
export function buildAsyncApi({ port, events, closeReasons }: SocketDescription): AsyncApiDocument {
  const requests = requestParts(events);
  const pushes = pushParts(closeReasons);
  const stream = streamParts();
  const token = [{ $ref: '#/components/securitySchemes/accessToken' }];
  const channels: AsyncApiDocument['channels'] = {
    socket: {
      address: '/',
      title: 'Socket.IO namespace /',
      servers: [{ $ref: '#/servers/gateway' }],
      messages: { ...requests.messages, ...pushes.messages },
    },
    eventStream: {
      address: '/notification/connect',
      title: 'Event stream of notifications',
      servers: [{ $ref: '#/servers/rest' }],
      messages: stream.messages,
    },
  };
  return {
    asyncapi: '3.1.0',
    info: {
      title: 'Sockets and event stream',
      description: INTRODUCTION,
      ...about,
      tags: [
        { name: 'Chat', description: 'Rooms, messages, presence and read positions, over sockets.' },
        {
          name: 'Notifications',
          description: 'What a member is told of, over sockets and the event stream.',
        },
      ],
    },
    defaultContentType: 'application/json',
    servers: {
      gateway: {
        host: '{host}:{port}',
        pathname: '/socket.io/',
        protocol: 'ws',
        description: 'Socket.IO 4: websocket, and long-polling where one gateway process serves',
        variables: {
          host: { default: 'localhost', description: 'host of the service' },
          port: { default: String(port), description: 'GATEWAY_PORT' },
        },
        security: token,
      },
      rest: {
        host: '{host}:{port}',
        protocol: 'http',
        description: 'the REST port, for the event stream',
        variables: {
          host: { default: 'localhost', description: 'host of the service' },
          port: { default: '8080', description: 'HTTP_PORT' },
        },
        security: token,
      },
    },
    channels,
    operations: { ...requests.operations, ...pushes.operations, ...stream.operations },
    components: {
      schemas: schemasUsedIn(channels, { ...resources, ErrorAck: errorAck }),
      securitySchemes: {
        accessToken: {
          type: 'httpApiKey',
          in: 'header',
          name: 'Authorization',
          description: 'the access token (JWT), raw or behind `Bearer`; sockets take it in `auth.token` too',
        },
      },
    },
  };
}
