import { createHash } from 'node:crypto';
import { AppError } from '../../kernel/errors.js';
import type { MessagePayload } from '../../kernel/live.js';
import { metrics } from '../../platform/metrics.js';
import type { ChatDeps } from '../chat-deps.js';
import { type Caller, identifySender } from './identify-sender.js';
import { type ContentType, Message } from './message.model.js';
import { presentPayload } from './message.presenter.js';
import { sendMessage } from './send-message.js';

/** The documented payload as a caller fills it for a new message. */
export interface PushInput {
  chatNo: number;
  saleNo?: number | null;
  contentType: ContentType;
  content: string;
  /** The caller's clock, in whatever form it sends it; only told apart, never trusted. */
  sendTime?: number | string | null;
  senderNo?: number | null;
  senderEmail?: string | null;
}

/** The documented answer: the payload without the sockets' running number. */
export type PushAnswer = Omit<MessagePayload, 'seq'>;

function withoutSeq({ seq: _, ...answer }: MessagePayload): PushAnswer {
  return answer;
}

/** What makes two pushes one message: same room, sender, sendTime and content. (contract, section 4) */
function retryKey({ sendTime, contentType, content }: PushInput): string | undefined {
  if (sendTime == null) return undefined;
  const hash = createHash('sha256').update(`${contentType}\n${content}`).digest('base64url');
  return `push:${sendTime}:${hash}`;
}

/**
 * Stores and delivers a pushed message exactly as a socket send does.
 * @throws AppError CHAT_ROOM_NOT_FOUND, UNAUTHORIZED, FORBIDDEN, INVALID_INPUT naming saleNo
 */
export async function pushMessage(deps: ChatDeps, caller: Caller, input: PushInput): Promise<PushAnswer> {
  const room = await deps.states.get(input.chatNo);
  const sender = await identifySender(deps, room, caller, input);
  if (input.saleNo != null && input.saleNo !== room.saleNo) {
    throw new AppError('INVALID_INPUT', `saleNo: chat room ${input.chatNo} is not about this adoption post`);
  }
  const { chatNo, contentType, content } = input;
  return withoutSeq(
    await sendMessage(deps, sender, { chatNo, contentType, content, clientKey: retryKey(input) }),
  );
}

/**
 * Answers a broadcast that a receiver posts back (legacy) with the stored message, and changes
 * nothing. Its unguessable id is proof enough of having received it.
 *
 * @throws AppError MESSAGE_NOT_FOUND for an id that this room does not hold
 */
export async function echoMessage(deps: ChatDeps, chatNo: number, messageId: string): Promise<PushAnswer> {
  const state = await deps.states.load(chatNo);
  const record = await Message.findOne({ _id: messageId, chatNo }).lean();
  if (!record) throw new AppError('MESSAGE_NOT_FOUND', `id: chat room ${chatNo} holds no such message`);
  metrics.messagesRepeated.inc({ kind: 'echo' });
  const people = await deps.directory.lookUp([record.senderNo]);
  return withoutSeq(presentPayload(record, state, people.get(record.senderNo)));
}
