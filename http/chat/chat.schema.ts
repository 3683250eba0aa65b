import { z } from 'zod';
import { checkContent, MAX_LISTED, messageFields } from '../../domain/chat/index.js';
import { id, pathId } from '../../domain/kernel/input.js';

export const chatNoParams = z.object({ chatNo: pathId });

export const createRoomBody = z.object({ saleNo: id, createMember: id });

export const listRoomsQuery = z.object({ saleNo: pathId.optional() });

export const listMessagesQuery = z.object({
  limit: pathId.refine((limit) => limit <= MAX_LISTED, `must be at most ${MAX_LISTED}`).optional(),
  /** A message id. */
  before: z.string().min(1, 'must not be empty').max(64, 'is no message id').optional(),
});

const email = z.email('must be an e-mail address').max(254);

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
    sendTime: z.union([z.number(), z.string().max(64)], 'must be a number').nullish(),
    senderNo: id.nullish(),
    senderEmail: email.nullish(),
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
