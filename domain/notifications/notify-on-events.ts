import type { EventBus } from '../kernel/events.js';
import type { Notifier } from './notifier.js';

/** What a chat notification shows for content that is not text. */
const stands: Record<string, string> = { image: '[image]', picture: '[picture]', coords: '[location]' };

/**
 * What happens elsewhere, turned into notifications. Every cause has a key, so that an event that is
 * announced again after a crash notifies nobody twice; nobody is told of what they did themselves.
 * (contract, section 6; the url forms are legacy)
 */
export function notifyOnEvents(events: EventBus, { notify }: Notifier): void {
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

  events.on(
    'message.unseen',
    async ({ messageId, chatNo, saleNo, senderNo, recipientNo, content, contentType }) => {
      await notify({
        memberNo: recipientNo,
        type: 'chat',
        content: stands[contentType] ?? content,
        url: `/chat/${chatNo}?adoptId=${saleNo}`,
        originNo: senderNo,
        cause: `message:${messageId}`,
        chatNo,
      });
    },
  );
}
