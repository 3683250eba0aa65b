import { z } from 'zod';
import { checkContent, MAX_LISTED, messageFields } from '../../domain/chat/index.js';
import { id, pathId, wholeNumber } from '../../domain/kernel/input.js';

export const chatNoParams = z.object({ chatNo: pathId });

export const createRoomBody = z.object({ saleNo: id, createMember: id });

export const listRoomsQuery = z.object({ saleNo: pathId.optional() });

export const listMessagesQuery = z.object({
  limit: pathId.refine((limit) => limit <= MAX_LISTED, `must be at most ${MAX_LISTED}`).optional(),
  /** A message id. */
  before: z.string('must be sent once').min(1, 'must not be empty').max(64, 'is no message id').optional(),
});

const email = z.email('must be an e-mail address').max(254);

/** ISO 8601; what follows the time is its zone. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(.*)$/;

/**
 * Epoch ms. A date-time in text, as a broadcast may have become on its way, is that moment. Without a zone it is
 * in UTC, as the legacy app computes, not in whatever zone this process runs in.
 */
const sendTime = z.preprocess((value) => {
  const [text, zone] = (typeof value === 'string' && DATE_TIME.exec(value)) || [];
  return text === undefined ? value : Date.parse(zone ? text : `${text}Z`);
}, wholeNumber());

/** A broadcast posted back (legacy): its id decides, whatever else the copy says. */
export const echoBody = z.object({
  id: z.string().min(1, 'must be null or a message id').max(64),
  chatNo: id,
});

/** A new message: the documented payload with the fields the server fills sent as null. */
export const pushBody = z
  .object({
    id: z.null().optional(),
    chatNo: id,
    saleNo: id.nullish(),
    ...messageFields,
    sendTime: sendTime.nullish(),
    senderNo: id.nullish(),
    // The legacy app sends an address it does not know as empty text.
    senderEmail: z.preprocess((value) => (value === '' ? null : value), email.nullish()),
  })
  .superRefine(checkContent);

/** Told apart by `id`, so that a fault names the field of the form that was meant. */
export const notificationBody = z
  .looseObject({ id: z.string('must be null or a message id').nullish() })
  .transform((body, ctx) => {
    const parsed = (body.id == null ? pushBody : echoBody).safeParse(body);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) ctx.issues.push({ ...issue, input: issue.input } as never);
    return z.NEVER;
  });

/** The form fields of the disconnect call. */
export const disconnectFields = z.object({ email });
