import { z } from 'zod';
import { type Chat, checkContent, MAX_LISTED, messageFields } from '../../domain/chat/index.js';
import { id, pathId, wholeNumber } from '../../domain/kernel/input.js';
import { messagePayload, roomView } from '../../domain/kernel/live.js';

const room = { description: 'chat room identifier', example: 7 };

export const chatNoParams = z.object({ chatNo: pathId.meta(room) });

export const createRoomBody = z.object({
  saleNo: id.meta({ description: 'sale (adoption) post identifier', example: 12 }),
  createMember: id.meta({
    description:
      'member identifier of the author of the post, or of the caller: the author is the other party then',
    example: 3,
  }),
});

export const listRoomsQuery = z.object({
  saleNo: pathId.optional().meta({ description: 'only rooms about this sale post' }),
});

export const listMessagesQuery = z.object({
  limit: pathId
    .refine((limit) => limit <= MAX_LISTED, `must be at most ${MAX_LISTED}`)
    .optional()
    .meta({ description: 'most messages to return', maximum: MAX_LISTED, fallback: MAX_LISTED }),
  before: z
    .string('must be sent once')
    .min(1, 'must not be empty')
    .max(64, 'is no message id')
    .optional()
    .meta({ description: 'only messages before the one with this id' }),
});

const email = z.email('must be an e-mail address').max(254);

/** ISO 8601; what follows the time is its zone. Bounded: a long text would be scanned from each of its digits to its end. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT[\d:.]{1,40}([^\d:.].{0,40})?$/;

/**
 * Epoch ms. A date-time in text, into which clients may convert the number, is accepted, too; without a zone
 * it is in UTC, as the legacy app assumes, not in this process's zone.
 */
const sendTime = z.preprocess((value) => {
  const [text, zone] = (typeof value === 'string' && DATE_TIME.exec(value)) || [];
  return text === undefined ? value : Date.parse(zone ? text : `${text}Z`);
}, wholeNumber());

const messageId = 'message identifier: null for a new message';
const filled = z
  .unknown()
  .optional()
  .meta({ description: 'null, or anything: the server fills it', example: null });

/** A broadcast posted back (legacy): only its id counts, whatever the other fields hold. */
const echoBody = z
  .object({
    id: z
      .string('must be null or a message id')
      .min(1, 'must be null or a message id')
      .max(64)
      .meta({ description: messageId }),
    chatNo: id.meta(room),
    senderName: filled,
    readCount: filled,
    senderEmail: z
      .unknown()
      .optional()
      .meta({ description: 'an e-mail address, or anything', example: null }),
  })
  .meta({ title: 'A broadcast posted back' });

/** A new message: the documented payload with the fields the server fills sent as null. */
const pushBody = z
  .object({
    id: z.null().optional().meta({ description: messageId, example: null }),
    chatNo: id.meta(room),
    saleNo: id
      .nullish()
      .meta({ description: 'sale post identifier; where sent, it must be the room’s', example: 12 }),
    ...messageFields,
    sendTime: sendTime.nullish().meta({
      description:
        'send time by the sender’s clock, epoch milliseconds; tells a retry from a new message. A date-time in text (ISO 8601, in UTC where it has no zone) is that moment',
      example: 1_659_327_876_000,
    }),
    senderName: filled,
    senderNo: id.nullish().meta({ description: 'null, or the participant who sends', example: null }),
    readCount: filled,
    // The legacy app sends an address it does not know as empty text.
    senderEmail: z
      .preprocess((value) => (value === '' ? null : value), email.nullish())
      .meta({ description: 'null or empty, or the e-mail of the participant who sends', example: null }),
  })
  .superRefine(checkContent)
  .meta({ title: 'A new message' });

/** What `notificationBody` accepts. */
export const notificationForms = z.union([pushBody, echoBody]);

/** Distinguished by `id`, so that a fault names a field of the intended form. What neither form has is not copied. */
export const notificationBody = z.unknown().transform((body, ctx) => {
  const { id: given } = (body ?? {}) as { id?: unknown };
  const parsed = (given == null ? pushBody : echoBody).safeParse(body);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) ctx.issues.push({ ...issue, input: issue.input } as never);
  return z.NEVER;
});

/** The form fields of the disconnect call. */
export const disconnectFields = z.object({
  email: email.meta({
    description: 'e-mail of the member who leaves, URL-encoded in a form',
    example: 'seojun@example.org',
  }),
});

export const roomList = z.array(roomView).meta({ description: 'rooms, newest activity first' });

/** A stored message as it is pushed: without the sockets' running number. */
export const chatNotification = messagePayload.omit({ seq: true }).meta({
  id: 'ChatNotification',
  description:
    'A stored message: the pushed payload with every field filled. `senderEmail` is empty if the caller sent neither a token nor that address.',
});

const { id: storedId, contentType, senderNo, senderName, readCount } = messagePayload.shape;

/** Interface, "Message list". */
export const messageList = z
  .object({
    email: z.string().meta({ description: "the requesting member's e-mail", example: 'seojun@example.org' }),
    chatList: z
      .array(
        z
          .object({
            id: storedId,
            chatRoomNo: z.int().meta(room),
            senderNo,
            senderName,
            contentType,
            content: z.string().meta({
              description: 'message text, or an image path',
              example: 'Is Bori still looking for a home?',
            }),
            sendDate: messagePayload.shape.sendTime.meta({ description: 'send time, epoch milliseconds' }),
            readCount,
            mine: z.boolean().meta({ description: 'whether the requester sent it' }),
          })
          .meta({ id: 'ChatMessage', description: 'A message as the room message list returns it.' }),
      )
      .meta({ description: 'messages, oldest first' }),
  })
  .meta({ id: 'MessageList', description: 'The messages of a room.' }) satisfies z.ZodType<
  Awaited<ReturnType<Chat['listMessages']>>
>;
