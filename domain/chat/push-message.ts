import { createHash } from 'node:crypto';
import { AppError } from '../kernel/errors.js';
import type { MessagePayload } from '../kernel/live.js';
import { comparable, formsOf } from '../kernel/same-text.js';
import { metrics } from '../platform/observe/metrics.js';
import type { ChatDeps } from './chat-deps.js';
import { type Caller, identifyPoster, requireToken } from './identify-poster.js';
import { type ContentType, Message, type MessageRecord } from './message.model.js';
import { presentPayload } from './message.presenter.js';
import type { RoomState } from './room-states.js';
import { sendMessage } from './send-message.js';

/** The documented payload of a new message. */
export interface PushInput {
  chatNo: number;
  saleNo?: number | null;
  contentType: ContentType;
  content: string;
  /** Epoch ms by the caller's clock: only distinguishes a retry from a new message. */
  sendTime?: number | null;
  senderNo?: number | null;
  senderEmail?: string | null;
}

/** The documented answer: the payload without `seq`, which only sockets get. */
export type PushAnswer = Omit<MessagePayload, 'seq'>;

/**
 * What the caller of a push gets. A client may be shared: without a token the answer does not disclose an address
 * that the caller has not sent.
 *
 * @param sentEmail the address in the caller's payload
 */
function answerTo(caller: Caller, sentEmail: unknown, { seq: _, ...answer }: MessagePayload): PushAnswer {
  const known = [caller.cookieActor?.email, typeof sentEmail === 'string' ? sentEmail.toLowerCase() : ''];
  if (caller.actor || known.includes(answer.senderEmail)) return answer;
  return { ...answer, senderEmail: '' };
}

/** Largest plausible distance of a `sendTime` from now, ms. (contract, section 4) */
const PLAUSIBLE_MS = 24 * 3_600_000;

/** How many of the newest messages are searched for a broadcast that is posted back without its id. */
const POSTED_BACK_WITHIN = 1_000;

/**
 * The client key of a push: its retry has the same room, sender, sendTime and content. Some clients send the
 * same number (0, 1) with every message: an implausible sendTime makes no key. (contract, section 4)
 *
 * @param now epoch ms
 */
function retryKey({ sendTime, contentType, content }: PushInput, now: number): string | undefined {
  if (sendTime == null || Math.abs(sendTime - now) > PLAUSIBLE_MS) return undefined;
  const hash = createHash('sha256')
    .update(`${contentType}\n${comparable(content)}`)
    .digest('base64url');
  return `push:${sendTime}:${hash}`;
}

/**
 * The stored message that a payload without an id repeats: it has the same content, and was sent at the
 * payload's `sendTime` by the server's clock, or by the clock of the other participant who pushed it.
 *
 * @param namesOther the payload names the other participant as sender: the newest message with that content
 *   is accepted
 */
async function findCopied(
  room: RoomState,
  posterNo: number,
  input: PushInput,
  clientKey: string | undefined,
  namesOther: boolean,
): Promise<MessageRecord | null> {
  const { chatNo, contentType, content, sendTime } = input;
  const senderNo = posterNo === room.creator ? room.joiner : room.creator;
  const same = { contentType, content: { $in: formsOf(content) } };
  const alike = { chatNo, seq: { $gt: room.seq - POSTED_BACK_WITHIN }, ...same };
  // Only a plausible sendTime makes a key.
  if (clientKey !== undefined && sendTime != null) {
    const sent = { $or: [{ sentAt: new Date(sendTime) }, { senderNo, clientKey }] };
    const copied = await Message.findOne({ ...alike, ...sent }).lean();
    if (copied) return copied;
  }
  return namesOther
    ? Message.findOne({ ...alike, senderNo })
        .sort({ seq: -1 })
        .lean()
    : null;
}

/** The stored message that a broadcast posted back is answered with. */
async function presentStored(
  deps: ChatDeps,
  state: RoomState,
  record: MessageRecord,
): Promise<MessagePayload> {
  metrics.messages.inc({ outcome: 'posted-back' });
  const people = await deps.directory.lookUp([record.senderNo]);
  return presentPayload(record, state, people.get(record.senderNo));
}

/**
 * Stores and delivers a pushed message as a socket send does. A broadcast that its receiver posts back
 * without its id is answered with the stored message instead (docs/decisions/posted-back.md).
 *
 * @param charge takes the message from the budget of the member who is found to push it, as of one who sends
 *   it by socket; what it throws refuses the push
 * @throws AppError CHAT_ROOM_NOT_FOUND, UNAUTHORIZED, FORBIDDEN, INVALID_INPUT naming saleNo;
 *   MESSAGE_NOT_FOUND if it names the other participant as sender, who has sent no such message
 */
export async function pushMessage(
  deps: ChatDeps,
  caller: Caller,
  input: PushInput,
  charge: (memberNo: number) => Promise<void>,
): Promise<PushAnswer> {
  const { chatNo, saleNo, contentType, content } = input;
  const { room, actor, namesOther } = await identifyPoster(deps, chatNo, caller, input);
  await charge(actor.no);
  const clientKey = retryKey(input, deps.clock.now());
  if (input.senderNo != null || input.senderEmail != null) {
    // Another process may have stored it.
    const state = await deps.states.load(chatNo);
    const copied = await findCopied(state, actor.no, input, clientKey, namesOther);
    if (copied) return answerTo(caller, input.senderEmail, await presentStored(deps, state, copied));
    if (namesOther) {
      throw new AppError(
        'MESSAGE_NOT_FOUND',
        `content: the sender named has sent no such message to chat room ${chatNo}`,
      );
    }
  }
  if (saleNo != null && saleNo !== room.saleNo) {
    throw new AppError('INVALID_INPUT', `saleNo: chat room ${chatNo} is not about this adoption post`);
  }
  const sent = await sendMessage(deps, actor, { chatNo, contentType, content, clientKey });
  return answerTo(caller, input.senderEmail, sent);
}

/** A broadcast that its receiver posts back. */
export interface EchoInput {
  chatNo: number;
  id: string;
  senderEmail?: unknown;
}

/**
 * Answers a broadcast that its receiver posts back with its id (legacy) with the stored message. The id
 * cannot be guessed: knowing it proves that the caller received the message.
 *
 * @throws AppError UNAUTHORIZED without a token if one is demanded; MESSAGE_NOT_FOUND if the room holds no such message,
 *   whether there is such a room or not
 */
export async function echoMessage(
  deps: ChatDeps,
  caller: Caller,
  { chatNo, id, senderEmail }: EchoInput,
): Promise<PushAnswer> {
  requireToken(deps, caller);
  const record = await Message.findOne({ _id: id, chatNo }).lean();
  if (!record) throw new AppError('MESSAGE_NOT_FOUND', `id: chat room ${chatNo} holds no such message`);
  return answerTo(caller, senderEmail, await presentStored(deps, await deps.states.load(chatNo), record));
}
