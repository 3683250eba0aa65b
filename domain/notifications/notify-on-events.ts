import type { EventBus } from '../kernel/events.js';
import type { NewNotification } from './notifier.js';

/** What a chat notification shows in place of content that is not text. */
const placeholders: Record<string, string> = { image: '[image]', picture: '[picture]', coords: '[location]' };

/**
 * Turns domain events into notifications. The cause is a key, so that an event published again after a crash
 * notifies nobody twice. Nobody is notified of their own doing. (contract, section 6; the url forms are
 * legacy)
 */
export function notifyOnEvents(
  events: EventBus,
  notify: (notification: NewNotification) => Promise<unknown>,
): void {
  events.on('comment.created', async ({ commentId, articleId, authorNo, recipientNo, kind, context }) => {
    if (recipientNo === authorNo) return;
    await notify({
      memberNo: recipientNo,
      type: kind,
      content: context,
      url: `/board/${articleId}`,
      originNo: authorNo,
      cause: `comment:${commentId}`,
    });
  });

  events.on('article.leading', async ({ articleId, authorNo, title, window }) => {
    const type = window === 'hot' ? 'documentHot' : 'documentWeek';
    await notify({
      memberNo: authorNo,
      type,
      content: title,
      url: `/board/${articleId}`,
      originNo: 0,
      cause: `${type}:${articleId}`,
    });
  });

  events.on('message.unannounced', async (message) => {
    const { messageId, chatNo, saleNo, senderNo, recipientNo, content, contentType } = message;
    await notify({
      memberNo: recipientNo,
      type: 'chat',
      content: placeholders[contentType] ?? content,
      url: `/chat/${chatNo}?adoptId=${saleNo}`,
      originNo: senderNo,
      cause: `message:${messageId}`,
      chatNo,
    });
  });
}
