import { z } from 'zod';
import type { Person } from '../kernel/actor.js';
import { imageAddress, text } from '../kernel/input.js';
import type { MessagePayload } from '../kernel/live.js';
import { type MessageStages, noteStages } from '../platform/observe/message-stages.js';
import { metrics } from '../platform/observe/metrics.js';
import { toAppError } from '../platform/process/failures.js';
import type { ChatDeps } from './chat-deps.js';
import { type ContentType, contentTypes, Message } from './message.model.js';
import { presentPayload } from './message.presenter.js';
import { BOTH_SIDES, requireParticipant } from './room.model.js';

/** Longest message text, code points. */
export const MAX_TEXT = 5_000;

/** Longest address of an image, code points. */
export const MAX_ADDRESS = 2_048;

/** `lat lng` in decimal degrees. */
const COORDS = /^(-?\d{1,2}(?:\.\d{1,15})?) (-?\d{1,3}(?:\.\d{1,15})?)$/;

function areCoords(content: string): boolean {
  const match = COORDS.exec(content);
  return match !== null && Math.abs(Number(match[1])) <= 90 && Math.abs(Number(match[2])) <= 180;
}

/** What sockets and the push call accept as a message. (contract, section 4) */
export const messageFields = {
  contentType: z.enum(contentTypes, `must be one of ${contentTypes.join(', ')}`).meta({
    description: 'kind of content: text, image or picture (an address), coords ("latitude longitude")',
  }),
  content: text(MAX_TEXT).meta({
    description:
      'the text; the address of an image: http(s), a path, or a data URL of an image other than SVG, of 2,048 characters at most; or coordinates (decimal degrees)',
    example: 'Is Bori still looking for a home?',
  }),
};

const address = imageAddress(MAX_ADDRESS);

/** What is wrong with the content of a message that is no text. */
function faultOf(contentType: string, content: string): string | undefined {
  if (contentType === 'coords')
    return areCoords(content) ? undefined : 'must be "latitude longitude" in decimal degrees';
  if (contentType !== 'image' && contentType !== 'picture') return undefined;
  return address.safeParse(content).error?.issues[0]?.message;
}

/** Checks `content` against `contentType`: a zod refinement of an object that holds both. */
export function checkContent(
  { contentType, content }: { contentType: string; content: string },
  ctx: z.RefinementCtx,
): void {
  const fault = faultOf(contentType, content);
  if (fault) ctx.addIssue({ code: 'custom', path: ['content'], message: fault });
}

export interface SendInput {
  chatNo: number;
  contentType: ContentType;
  content: string;
  /** Client key: the same key again returns the first message. */
  clientKey?: string;
  stages?: MessageStages | undefined;
}

/**
 * Charges the sender's quota. A repeated send stores nothing: it is answered although the quota is used up.
 * @returns gives the message back, if it was counted
 * @throws AppError QUOTA_EXCEEDED
 */
async function charge(
  { quotas }: ChatDeps,
  senderNo: number,
  { chatNo, clientKey }: SendInput,
): Promise<() => void> {
  try {
    return await quotas.take('messages', senderNo);
  } catch (error) {
    if (clientKey && (await Message.exists({ chatNo, senderNo, clientKey }))) return () => {};
    throw error;
  }
}

/**
 * Stores a message, delivers it to the room, and notifies an absent recipient, for sockets and the push call
 * alike. When it resolves, the message is stored and readable, and on its way to the room; after a crash before that it
 * is either absent or complete. The notification follows in the background.
 *
 * @returns the payload; with a `clientKey` used before, that of the first message
 * @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN, QUOTA_EXCEEDED, SERVICE_UNAVAILABLE
 */
export async function sendMessage(deps: ChatDeps, actor: Person, input: SendInput): Promise<MessagePayload> {
  const { states, ledger, live, changes, notifyAbsent, directory } = deps;
  const { chatNo, contentType, content, clientKey, stages } = input;
  try {
    const side = requireParticipant(await states.get(chatNo), actor.no);
    // Under the current name, which may be newer than the connection. Read first: a send that fails here is not charged.
    const sender = await directory.current(actor);
    const giveBack = await charge(deps, actor.no, input);
    stages?.end('receive');
    const appending = ledger.append(chatNo, { side, contentType, content, clientKey, stages });
    appending.catch(giveBack);
    const { record, state, repeated } = await appending;
    // No await between the two: see `Ledger.append` on the order.
    const payload = presentPayload(record, state, sender);
    if (stages && !repeated) noteStages(payload, stages);
    // A repeated one, too: its first send may have ended before delivering it. Sockets that have it drop it.
    live.message(payload);
    changes.touch(chatNo, BOTH_SIDES);
    if (repeated) giveBack();
    else if (record.unannounced) notifyAbsent.enqueue(record);
    metrics.messages.inc({ outcome: repeated ? 'repeated' : 'stored' });
    return payload;
  } catch (error) {
    metrics.messages.inc({ outcome: toAppError(error).status < 500 ? 'refused' : 'failed' });
    throw error;
  }
}
