import { createChat } from '../../domain/chat/index.js';
import { createCommunity, type RestoredArticle } from '../../domain/community/index.js';
import type { Domain } from '../../domain/domain.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { createEventBus } from '../../domain/kernel/events.js';
import { noLive } from '../../domain/kernel/live.js';
import { createLocalDateTime } from '../../domain/kernel/local-date-time.js';
import { createNotifications } from '../../domain/notifications/index.js';
import type { Logger } from '../../domain/platform/logger.js';
import { samplePosts } from './adoption-posts.js';
import { type SampleChat, sampleChats } from './chats.js';
import type { MemberKey } from './members.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** How old, in ms, a notification of the sample data has to be to count as read. */
const READ_AFTER_MS = 24 * HOUR_MS;

type Members = Record<MemberKey, Actor>;

/** Something that happened, at an epoch ms. */
interface Happening {
  at: number;
  run(): Promise<unknown>;
}

/**
 * Areas of their own whose clock stands where it is put: what happens in them has happened then. Nobody
 * is connected to them, and zone and settings decide nothing that is stored.
 */
function areasOfThePast({ adoption, members }: Domain, logger: Logger) {
  let now = 0;
  const clock = { now: () => now };
  const events = createEventBus();
  const shared = { clock, events, directory: members.directory, logger };
  const localTime = createLocalDateTime('UTC');
  return {
    goTo(at: number) {
      now = at;
    },
    events,
    community: createCommunity({ ...shared, localTime }),
    notifications: createNotifications({ ...shared, localTime, live: noLive }),
    chat: createChat({
      ...{ ...shared, adoption, config: { LEGACY_ANONYMOUS: 'off' } },
      // Those who talk have the room open.
      live: { ...noLive, isInRoom: () => true },
    }),
  };
}

type Areas = ReturnType<typeof areasOfThePast>;

/** Every comment tells the author of what it answers, as comments do; never oneself. */
function commentsHappening({ events }: Areas, articles: RestoredArticle[]): Happening[] {
  return articles.flatMap(({ id: articleId, authorNo: articleAuthor, comments }) => {
    const authors = new Map(comments.map(({ id, authorNo }) => [id, authorNo]));
    return comments.map(({ id: commentId, parentId, authorNo, context, publishedAt }) => ({
      at: publishedAt.getTime(),
      async run() {
        const recipientNo = parentId === 0 ? articleAuthor : (authors.get(parentId) ?? articleAuthor);
        const kind = parentId === 0 ? ('comment' as const) : ('recomment' as const);
        if (recipientNo === authorNo) return;
        await events.publish('comment.created', {
          commentId,
          articleId,
          authorNo,
          recipientNo,
          kind,
          context,
        });
      },
    }));
  });
}

/** A conversation: both have the room open until the last lines, which their recipient has yet to read. */
function chatHappens({ chat }: Areas, members: Members, sample: SampleChat, now: number): Happening[] {
  const { sale, asks, hoursAgo, unread, lines } = sample;
  const post = samplePosts[sale - 1];
  if (!post) throw new Error(`the sample chats name adoption post ${sale}, which is not there`);
  const [asker, author] = [members[asks], members[post.by]];
  const begins = now - hoursAgo * HOUR_MS;
  let chatNo = 0;
  const opens: Happening = {
    at: begins,
    async run() {
      chatNo = await chat.createRoom(asker, { saleNo: sale, createMember: author.no });
      if (lines.length === unread) return;
      for (const { no } of [asker, author]) {
        await chat.enterRoom(no === asker.no ? asker : author, chatNo, undefined, `sample:${no}`);
      }
    },
  };
  const says: Happening[] = lines.map((line, i) => ({
    at: begins + (i + 1) * 3 * MINUTE_MS,
    async run() {
      if (i === lines.length - unread) {
        for (const { no } of [asker, author]) await chat.leaveRoom(no, chatNo, `sample:${no}`);
      }
      await chat.sendMessage(line.startsWith('<') ? author : asker, {
        chatNo,
        contentType: 'text',
        content: line.replace(/^</, ''),
        clientKey: `sample:${i}`,
      });
      // The recipient is notified at the time of the message, before the clock goes on.
      await chat.sweep();
    },
  }));
  return [opens, ...says];
}

/** The service's own word to everybody, when the board opened. */
function welcomeHappens({ notifications }: Areas, members: Members, at: number): Happening {
  return {
    at,
    run: () =>
      Promise.all(
        Object.values(members).map(({ no: memberNo }) =>
          notifications.notify({
            memberNo,
            type: 'announcement',
            content: '환영합니다! Welcome to the adoption community.',
            url: '/board/1',
            originNo: 0,
            cause: 'announcement:sample-welcome',
          }),
        ),
      ),
  };
}

/** Who the samples are shown as has read what is older than a day. */
async function readOldOnes({ notifications }: Areas, member: Actor, now: number): Promise<void> {
  for (const { id, checked, publishedAt } of await notifications.list(member)) {
    const [year, month, day, hour, minute, second] = publishedAt;
    const at = Date.UTC(year, month - 1, day, hour, minute, second);
    if (!checked && at < now - READ_AFTER_MS) await notifications.check(member, id);
  }
}

/**
 * Lets the sample members chat and be notified, in the order of time, through the domain's own use
 * cases. Repeating it writes nothing twice: notifications have causes, messages have their sender's key.
 *
 * @param now epoch ms up to which it happens
 */
export async function liveThrough(
  domain: Domain,
  members: Members,
  articles: RestoredArticle[],
  logger: Logger,
  now: number,
): Promise<void> {
  const areas = areasOfThePast(domain, logger);
  const opened = Math.min(...articles.map(({ publishedAt }) => publishedAt.getTime()));
  const happenings = [
    welcomeHappens(areas, members, opened + MINUTE_MS),
    ...commentsHappening(areas, articles),
    ...sampleChats.flatMap((sample) => chatHappens(areas, members, sample, now)),
  ].sort((a, b) => a.at - b.at);
  for (const { at, run } of happenings) {
    areas.goTo(at);
    await run();
  }
  areas.goTo(now);
  // Whose article leads the last day and the last week is told too.
  await areas.community.sweep();
  await readOldOnes(areas, members.minji, now);
  await areas.chat.close();
  await areas.notifications.close();
}
