import { type Chat, createChat } from '../../domain/chat/index.js';
import type { Domain } from '../../domain/domain.js';
import { createEventBus } from '../../domain/kernel/events.js';
import { noLive } from '../../domain/kernel/live.js';
import { createLocalDateTime } from '../../domain/kernel/local-date-time.js';
import { createNotifications, type Notifications } from '../../domain/notifications/index.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import { unlimitedQuotas } from '../../domain/platform/rate-limits/index.js';
import { type ActivityOf, type ActivityRow, type Members, memberOf, timeOf } from './activity.js';

/**
 * Sends the messages and notifications of the sample data through the domain's use cases, with the clock set
 * to the time of each row. Repeating it changes nothing: messages have a client key, notifications a cause.
 */
export class Replay {
  readonly #domain: Domain;
  readonly #members: Members;
  readonly #events = createEventBus();
  readonly #notifications: Notifications;
  readonly #chat: Chat;
  #time = 0;

  constructor(domain: Domain, members: Members, logger: Logger) {
    this.#domain = domain;
    this.#members = members;
    const {
      adoption,
      members: { directory },
    } = domain;
    const shared = { clock: { now: () => this.#time }, events: this.#events, directory, logger };
    const localTime = createLocalDateTime('UTC');
    this.#notifications = createNotifications({ ...shared, localTime, live: noLive });
    this.#chat = createChat({
      ...{ ...shared, adoption, config: { LEGACY_ANONYMOUS: 'off' }, quotas: unlimitedQuotas },
      // A recipient who has entered a room counts as connected.
      live: { ...noLive, isInRoom: () => true },
    });
  }

  /** @param now epoch ms that the rows' ages count back from */
  async run(rows: ActivityRow[], now: number): Promise<void> {
    try {
      for (const [i, row] of rows.entries()) {
        this.#time = timeOf(now, row.hoursAgo).getTime();
        if (row.record === 'announcement') await this.#announce(row);
        else if (row.record === 'comment') await this.#notifyOfComment(row, rows);
        else if (row.record === 'message') await this.#send(row, `sample:${i}`);
      }
    } finally {
      await this.#chat.close();
      await this.#notifications.close();
    }
  }

  async #announce({ content, url }: ActivityOf<'announcement'>): Promise<void> {
    const notice = { type: 'announcement', content, url, originNo: 0, cause: 'announcement:sample' } as const;
    const members = [...this.#members.values()];
    await Promise.all(members.map(({ no }) => this.#notifications.notify({ ...notice, memberNo: no })));
  }

  async #notifyOfComment(comment: ActivityOf<'comment'>, rows: ActivityRow[]): Promise<void> {
    const { id, article, parent, author, context } = comment;
    const answered = rows.find((row) =>
      parent ? row.record === 'comment' && row.id === parent : row.record === 'article' && row.id === article,
    ) as ActivityOf<'article' | 'comment'>;
    await this.#events.publish('comment.created', {
      commentId: id,
      articleId: article,
      authorNo: memberOf(this.#members, author).no,
      recipientNo: memberOf(this.#members, answered.author).no,
      kind: parent ? 'recomment' : 'comment',
      context,
    });
  }

  async #send(message: ActivityOf<'message'>, clientKey: string): Promise<void> {
    const author = memberOf(this.#members, message.author);
    const recipient = memberOf(this.#members, message.recipient);
    const post = await this.#domain.adoption.findPost(message.post);
    const asker = author.no === post?.authorNo ? recipient : author;
    const chatNo = await this.#chat.createRoom(asker, { saleNo: message.post, createMember: asker.no });
    if (message.read) await this.#chat.enterRoom(recipient, chatNo, {}, 'sample');
    await this.#chat.sendMessage(author, {
      chatNo,
      contentType: 'text',
      content: message.content,
      clientKey,
    });
    // The notification is stored before the clock advances.
    await this.#chat.sweep();
    if (message.read) await this.#chat.leaveRoom(recipient.no, chatNo, 'sample');
  }
}
