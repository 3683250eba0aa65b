import { expect } from 'chai';
import { allChecks } from '../../domain/checks.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { AppError } from '../../domain/kernel/errors.js';
import { anotherChat, openRoom } from '../support/chat.js';
import { buildBoard } from '../support/community.js';
import { notifyOf } from '../support/notifications.js';
import { createRandom } from '../support/random.js';
import { service } from '../support/service.js';

/** Members that write, and what each of them does. */
const WRITERS = 8;
const WRITES = 60;

describe('verify beside writes of two processes', () => {
  it('finds nothing', async () => {
    const { domain } = await service();
    const { below, pick } = createRandom('VERIFY_BESIDE_SEED');
    const boards = [await buildBoard(), await buildBoard()];
    const chats = [await anotherChat(), await anotherChat()];
    const board = boards[0] as (typeof boards)[number];
    const author = await board.member('Author');
    const articles = [await board.article(author), await board.article(author)];
    const room = await openRoom();
    let comments: number[] = [];

    async function write(who: Actor): Promise<unknown> {
      const { community, comment } = pick(boards);
      const article = pick(articles);
      const of = comments.length > 0 ? pick(comments) : undefined;
      switch (below(10)) {
        case 0:
          return community.giveHeart(who, 'article', article.no);
        case 1:
          return community.removeHeart(who, 'article', article.no);
        case 2:
          return of && community.giveHeart(who, 'comment', of);
        case 3:
          return of && community.removeHeart(who, 'comment', of);
        case 4:
          comments.push(await comment(author, article.no));
          return undefined;
        case 5:
          return of && comment(who, article.no, of).then((no) => comments.push(no));
        case 6:
          return of && community.deleteComment(author, of);
        case 7:
          if (below(6) > 0) return community.addBookmark(who, article.no);
          comments = [];
          articles[articles.indexOf(article)] = await board.article(author);
          return community.deleteArticle(author, article.no);
        case 8:
          return notifyOf(room.author, 'Hi');
        default:
          return pick(chats).sendMessage(
            { ...author, no: pick([room.author, room.asker]).no },
            { chatNo: room.chatNo, contentType: 'text', content: 'Hi' },
          );
      }
    }

    let writing = WRITERS;
    let done = 0;
    const writers = Array.from({ length: WRITERS }, async (_, i) => {
      const who = await board.member(`Writer ${i}`);
      for (let n = 0; n < WRITES; n += 1) {
        await write(who).then(
          () => {
            done += 1;
          },
          (error) => {
            // Another writer came first.
            if (!(error instanceof AppError) || error.status >= 500) throw error;
          },
        );
      }
      writing -= 1;
    });
    let passes = 0;
    const found: string[] = [];
    for (; writing > 0 || passes === 0; passes += 1) {
      for (const check of allChecks()) for await (const { text } of check.run(() => {})) found.push(text);
    }
    await Promise.all(writers);
    expect(found).to.deep.equal([]);
    expect(done, 'writes beside the checks').to.be.greaterThan((WRITERS * WRITES) / 4);
    await domain.community.sweep();
  });
});
