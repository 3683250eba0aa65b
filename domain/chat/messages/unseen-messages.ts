import type { EventBus } from '../../kernel/events.js';
import type { Logger } from '../../platform/logger.js';
import type { Presence } from '../presence/presence.js';
import type { RoomStates } from '../rooms/room-states.js';
import { other } from '../rooms/room-states.js';
import { Message, type MessageRecord } from './message.model.js';
import { sideOf } from './message.presenter.js';

/** Most messages one sweep takes on; the next one goes on. */
const MAX_SWEEP = 1_000;

/**
 * Announces messages whose recipient was away. That a message still has to be announced is part of
 * its own record, so a crash in between is made good by the sweep; listeners are idempotent.
 */
export interface UnseenMessages {
  /** Announces one message. Never rejects: what fails here the sweep finishes. */
  announce(record: MessageRecord): Promise<void>;
  /** Finishes what a crash interrupted. */
  sweep(): Promise<void>;
}

export function createUnseenMessages(
  events: EventBus,
  states: RoomStates,
  presence: Presence,
  markRead: (chatNo: number, memberNo: number, seq: number) => Promise<void>,
  logger: Logger,
): UnseenMessages {
  const announced: string[] = [];
  let clearing = false;

  /** Takes the marks off in groups: nobody waits for it, and a mark too many costs a sweep a look. */
  async function clearMarks(): Promise<void> {
    if (clearing) return;
    clearing = true;
    try {
      while (announced.length > 0) {
        const ids = announced.splice(0, MAX_SWEEP);
        await Message.updateMany({ _id: { $in: ids } }, { $unset: { unannounced: 1 } });
      }
    } catch (error) {
      logger.warn({ err: error }, 'marks of announced messages stay for the sweep');
    } finally {
      clearing = false;
    }
  }

  async function tell(record: MessageRecord): Promise<void> {
    const state = await states.get(record.chatNo);
    const sender = sideOf(state, record.senderNo) ?? 'creator';
    const recipient = other(sender);
    const recipientNo = state[recipient];
    // They may have come in while the message was being written; then they see it in the room.
    if (await presence.isPresent(record.chatNo, recipientNo)) {
      await markRead(record.chatNo, recipientNo, record.seq);
    }
    if (state.read[recipient].seq < record.seq) {
      await events.announce('message.unseen', {
        messageId: record._id,
        chatNo: record.chatNo,
        saleNo: state.saleNo,
        senderNo: record.senderNo,
        recipientNo,
        content: record.content,
        contentType: record.contentType,
      });
    }
    announced.push(record._id);
  }

  return {
    async announce(record) {
      try {
        await tell(record);
        void clearMarks();
      } catch (error) {
        logger.warn({ err: error, messageId: record._id }, 'a message is left to the sweep to announce');
      }
    },

    async sweep() {
      // One that is being announced this moment may be among them: the second time changes nothing.
      const left = await Message.find({ unannounced: true }).sort({ sentAt: 1 }).limit(MAX_SWEEP).lean();
      for (const record of left) await tell(record);
      await clearMarks();
    },
  };
}
