import type { Actor } from '../kernel/actor.js';
import type { MessagePayload } from '../kernel/live.js';
import { metrics } from '../platform/metrics.js';
import { requireParticipant } from './chat.policy.js';
import type { ChatDeps } from './chat-deps.js';
import type { Appended } from './ledger.js';
import type { ContentType } from './message.model.js';
import { presentPayload } from './message.presenter.js';
import { BOTH_SIDES } from './room.model.js';

export interface SendInput {
  chatNo: number;
  contentType: ContentType;
  content: string;
  /** The sender's own key within this room; the same again returns the first message. */
  clientKey?: string;
}

/**
 * Stores a message, delivers it to the room, and notifies a recipient who is away: the one way in,
 * for sockets and the push call alike. When this resolves the message is stored, readable and
 * delivered; a crash before that leaves it either absent or complete. The notification follows by itself.
 *
 * @returns the payload, of the first message where `clientKey` was used before
 * @throws AppError CHAT_ROOM_NOT_FOUND, FORBIDDEN
 */
export async function sendMessage(deps: ChatDeps, actor: Actor, input: SendInput): Promise<MessagePayload> {
  const { states, ledger, live, changes, notifyAbsent, directory } = deps;
  const { chatNo, ...draft } = input;
  const room = await states.get(chatNo);
  const side = requireParticipant(room, actor.no);
  // Called by the name that a list would show, whatever it was when the connection was made.
  const sender = directory.latest(actor);
  // `append` calls the function below before it resolves, unless the message is a repeat.
  let payload!: MessagePayload;

  const { record, state, repeated } = await ledger.append(
    chatNo,
    { side, ...draft },
    (appended: Appended) => {
      payload = presentPayload(appended.record, appended.state, sender);
      live.message(payload);
    },
  );
  if (repeated) {
    metrics.messagesRepeated.inc({ kind: 'key' });
    const first = presentPayload(record, state, sender);
    // Its first send may have ended between storing and delivering; who has it drops it by its number.
    live.message(first);
    changes.touch(chatNo, BOTH_SIDES);
    return first;
  }
  metrics.messagesStored.inc();
  changes.touch(chatNo, BOTH_SIDES);
  if (record.unannounced) notifyAbsent.enqueue(record);
  return payload;
}
