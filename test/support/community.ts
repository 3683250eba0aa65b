import { randomUUID } from 'node:crypto';
import { type Community, createCommunity } from '../../domain/community/index.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { createEventBus, type DomainEvents } from '../../domain/kernel/events.js';
import { createLocalDateTime } from '../../domain/kernel/local-date-time.js';
import { createLogger } from '../../domain/platform/logger.js';
import { service } from './service.js';

/** A community area of the test's own, over the running database: its clock, events and caches are apart. */
export interface Board {
  community: Community;
  clock: { now(): number; advance(ms: number): void };
  commentsAnnounced: DomainEvents['comment.created'][];
  leadersAnnounced: DomainEvents['article.leading'][];
  /** While true, whoever listens to the board's events fails. */
  listenersFail: boolean;
  member(nickname: string): Promise<Actor>;
  /** A new article by a new member, or the given one. */
  article(author?: Actor): Promise<{ no: number; author: Actor }>;
}

export async function buildBoard(startsAt = Date.now()): Promise<Board> {
  const { domain } = await service();
  const events = createEventBus();
  let now = startsAt;
  const clock = {
    now: () => now,
    advance(ms: number) {
      now += ms;
    },
  };
  const community = createCommunity({
    clock,
    events,
    directory: domain.members.directory,
    localTime: createLocalDateTime('Asia/Seoul'),
    logger: createLogger('silent', 'test'),
  });
  const board: Board = {
    community,
    clock,
    commentsAnnounced: [],
    leadersAnnounced: [],
    listenersFail: false,
    member: (nickname) =>
      domain.members.record({ email: `${randomUUID()}@example.org`, nickname, issuedAt: 0 }),
    async article(author) {
      const by = author ?? (await board.member('Author'));
      const draft = { categoryId: 1, title: 'A title', context: 'A text', imageList: [], thumbnail: '' };
      return { no: await community.createArticle(by, draft), author: by };
    },
  };
  events.on('comment.created', async (event) => {
    if (board.listenersFail) throw new Error('a listener fails');
    board.commentsAnnounced.push(event);
  });
  events.on('article.leading', async (event) => {
    if (board.listenersFail) throw new Error('a listener fails');
    board.leadersAnnounced.push(event);
  });
  return board;
}
