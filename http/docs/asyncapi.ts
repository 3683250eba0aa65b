import { z } from 'zod';
import { type ErrorCode, listErrorCodes } from '../../domain/kernel/errors.js';
import { notificationView } from '../../domain/kernel/live.js';
import { errorAck, errorBody } from '../error.schema.js';
import { streamCreated } from '../notifications/notifications.schema.js';
import { about } from './about.js';
import type {
  AsyncApiDocument,
  AsyncOperationDocument,
  MessageDocument,
  OpenApiDocument,
} from './documents.js';
import { Schemas } from './schemas.js';

/** A client event of the gateway, which http does not import. */
interface SocketRequest {
  summary: string;
  description: string;
  request: z.ZodType;
  /** Fields of the acknowledgement besides `status: 200`. */
  ack: z.ZodObject;
  /** Errors beyond those of any request, each with a reason as an example. */
  errors?: Partial<Record<ErrorCode, string>>;
}

/** A server event of the gateway. */
interface SocketPush {
  summary: string;
  description: string;
  payload: z.ZodType;
}

/** The gateway as the documents and the demo page show it. */
export interface SocketDescription {
  port: number;
  /** By client event. */
  requests: Record<string, SocketRequest>;
  /** By server event. */
  pushes: Record<string, SocketPush>;
}

const INTRODUCTION = `Live traffic of the service: Socket.IO 4 (path \`/socket.io/\`, namespace \`/\`), and the event stream of notifications. REST calls are in /openapi.json.

**Connecting.** The access token goes in \`auth.token\` or the \`Authorization\` header. A refused connection gets \`connect_error\` whose \`data\` is the error body. A connection that is not let in within 30 s is closed.

**Requests.** Each client event takes one object and an acknowledgement function, which is called with \`{"status":200, …}\` or with the error body; a retryable error has \`retryAfterMs\` beside it. Where a request takes an integer, text of digits (\`"42"\`) counts as that number. Limits of text count Unicode code points, as \`maxLength\` does. Binary data is refused.

**Order.** Messages of a room are numbered 1, 2, 3 … by \`seq\`. The database is the truth and an event is a hint about it: drop a number you have, and after a gap or a reconnect join the room again with the last number you have as \`after\`, until \`more\` is false.`;

const REFUSAL =
  'The error event of a Socket.IO client: `message` is the code, `data` the error body. Codes: UNAUTHORIZED, TOKEN_EXPIRED, RATE_LIMITED, SERVICE_UNAVAILABLE. A foreign origin is refused with HTTP 403 before that, too many connects of one address with HTTP 429.';

/** Keys of an AsyncAPI document take no colon. */
const keyOf = (event: string): string => event.replace(':', '.');

/** The name of an event in names of schemas: `RoomJoin`. */
const nameOf = (event: string): string =>
  event.replace(/(?:^|[:_])(\w)/g, (_, first: string) => first.toUpperCase());

/** Errors that any request may get. */
const ALWAYS: ErrorCode[] = ['INVALID_INPUT', 'RATE_LIMITED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];

/** What apps send and ask no acknowledgement for, though they may: it may be lost. */
export const UNACKNOWLEDGED = 'typing';

const connectError = z
  .object({ message: z.string().meta({ description: 'the code' }), data: errorBody })
  .meta({
    example: {
      message: 'TOKEN_EXPIRED',
      data: { status: 401, message: 'TOKEN_EXPIRED', errors: ['the access token has expired'] },
    },
  });

const channelRef = (name: string) => ({ $ref: `#/channels/${name}` });
const messageRef = (name: string, key: string) => ({ $ref: `#/channels/${name}/messages/${key}` });

/** One channel's messages, and the operations of all, as they are added. */
class Channel {
  readonly messages: Record<string, MessageDocument> = {};
  readonly #name: string;
  readonly #schemas: Schemas;

  constructor(name: string, schemas: Schemas) {
    this.#name = name;
    this.#schemas = schemas;
  }

  /** Adds a message whose example is made of its payload's. */
  add(
    key: string,
    about: Pick<MessageDocument, 'name' | 'title' | 'summary'>,
    payload: MessageDocument['payload'],
  ): void {
    const example = this.#schemas.example(payload);
    const contentType = payload.type === 'string' ? 'text/plain' : 'application/json';
    this.messages[key] = {
      ...about,
      contentType,
      payload,
      examples: [{ name: about.name, payload: example }],
    };
  }

  /** Adds what a request is acknowledged with: success, or one of the errors. */
  addAck(key: string, event: string, { ack, errors = {} }: SocketRequest): void {
    const status = z.literal(200).meta({ description: '200 on success' });
    const success = this.#schemas.named(
      `${nameOf(event)}Success`,
      `What \`${event}\` is acknowledged with on success.`,
      this.#schemas.yielded(z.object({ status, ...ack.shape })),
    );
    const codes = new Set<string>([...ALWAYS, ...Object.keys(errors)]);
    const refusals = listErrorCodes().filter(({ code }) => codes.has(code));
    this.messages[key] = {
      name: `${event} acknowledgement`,
      title: `Acknowledgement of ${event}`,
      summary: `Success, or one of ${refusals.map(({ code }) => code).join(', ')}`,
      contentType: 'application/json',
      payload: { oneOf: [success, this.#schemas.yielded(errorAck)] },
      examples: [
        { name: 'success', payload: this.#schemas.example(success) },
        ...refusals.map(({ code, status, text, retryable }) => ({
          name: code,
          payload: {
            status,
            message: code,
            errors: [errors[code] ?? text],
            ...(retryable ? { retryAfterMs: 1_000 } : {}),
          },
        })),
      ],
    };
  }

  operation(
    action: 'send' | 'receive',
    title: string,
    { summary, description }: { summary: string; description: string },
    keys: string[],
    reply?: string,
  ): AsyncOperationDocument {
    const channel = channelRef(this.#name);
    return {
      action,
      channel,
      title,
      summary,
      description,
      messages: keys.map((key) => messageRef(this.#name, key)),
      ...(reply ? { reply: { channel, messages: [messageRef(this.#name, reply)] } } : {}),
    };
  }
}

/** Client events; the service is the application described, so it receives them. */
function addRequests(
  socket: Channel,
  { requests }: SocketDescription,
  schemas: Schemas,
): AsyncApiDocument['operations'] {
  const operations: AsyncApiDocument['operations'] = {};
  for (const [event, request] of Object.entries(requests)) {
    const key = keyOf(event);
    const reply = `${key}.ack`;
    const { summary: title, description: summary } = request;
    const payload = schemas.named(
      `${nameOf(event)}Request`,
      `What \`${event}\` takes.`,
      schemas.accepted(request.request),
    );
    socket.add(key, { name: event, title, summary }, payload);
    socket.addAck(reply, event, request);
    operations[`receive.${key}`] = socket.operation('receive', event, request, [key], reply);
  }
  return operations;
}

function addPushes(
  socket: Channel,
  { pushes }: SocketDescription,
  schemas: Schemas,
): AsyncApiDocument['operations'] {
  const refused = { summary: 'The connection was refused', description: REFUSAL, payload: connectError };
  const operations: AsyncApiDocument['operations'] = {};
  for (const [event, push] of Object.entries({ ...pushes, connect_error: refused })) {
    const key = `server.${keyOf(event)}`;
    const { summary: title, description: summary } = push;
    const payload = schemas.named(`${nameOf(event)}Event`, summary, schemas.yielded(push.payload));
    socket.add(key, { name: event, title, summary }, payload);
    operations[`send.${keyOf(event)}`] = socket.operation('send', event, push, [key]);
  }
  return operations;
}

function addStream(
  stream: Channel,
  { paths }: OpenApiDocument,
  schemas: Schemas,
): AsyncApiDocument['operations'] {
  const call = paths['/notification/connect']?.get;
  if (!call) throw new Error('the event stream is not served');
  const first = 'The first event; its id is where the stream goes on from.';
  const later = 'Each later event; its id is `{memberNo}_{n}`, n rising.';
  const created = { name: 'sse', title: 'The stream is open', summary: first };
  const notification = { name: 'sse', title: 'A notification', summary: later };
  stream.add('created', created, schemas.yielded(streamCreated));
  stream.add('notification', notification, schemas.yielded(notificationView));
  return { 'send.sse': stream.operation('send', 'sse', call, ['created', 'notification']) };
}

/**
 * The AsyncAPI 3.1 document.
 * @param openApi describes the call that opens the event stream
 * @param restPort the port of REST and the event stream
 */
export function buildAsyncApi(
  sockets: SocketDescription,
  openApi: OpenApiDocument,
  restPort: number,
): AsyncApiDocument {
  const schemas = new Schemas();
  const [socketChannel, streamChannel] = [
    new Channel('socket', schemas),
    new Channel('eventStream', schemas),
  ];
  const operations = {
    ...addRequests(socketChannel, sockets, schemas),
    ...addPushes(socketChannel, sockets, schemas),
    ...addStream(streamChannel, openApi, schemas),
  };
  const token = [{ $ref: '#/components/securitySchemes/accessToken' }];
  const channels: AsyncApiDocument['channels'] = {
    socket: {
      address: '/',
      title: 'Socket.IO namespace /',
      servers: [{ $ref: '#/servers/gateway' }],
      messages: socketChannel.messages,
    },
    eventStream: {
      address: '/notification/connect',
      title: 'Event stream of notifications',
      servers: [{ $ref: '#/servers/rest' }],
      messages: streamChannel.messages,
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
          description: 'The notifications of a member, over sockets and the event stream.',
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
          port: { default: String(sockets.port), description: 'GATEWAY_PORT' },
        },
        security: token,
      },
      rest: {
        host: '{host}:{port}',
        protocol: 'http',
        description: 'the REST port, for the event stream',
        variables: {
          host: { default: 'localhost', description: 'host of the service' },
          port: { default: String(restPort), description: 'HTTP_PORT' },
        },
        security: token,
      },
    },
    channels,
    operations,
    components: {
      schemas: schemas.components,
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
