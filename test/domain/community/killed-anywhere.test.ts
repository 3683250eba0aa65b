import { expect } from 'chai';
import type { Actor } from '../../../domain/kernel/actor.js';
import { type Board, buildBoard, COMMUNITY_MODELS, expectConsistent } from '../../support/community.js';
import { interceptCalls } from '../../support/database-calls.js';

/**
 * Ends a process at one of its database calls: that one and all behind it are never made.
 * @returns whether it came so far
 */
async function killAt(call: number, work: () => Promise<unknown>): Promise<boolean> {
  let made = 0;
  let killed = false;
  const stop = interceptCalls(COMMUNITY_MODELS, async (_model, _call, run) => {
    killed ||= made === call;
    if (killed) throw new Error('killed');
    made += 1;
    return run();
  });
  try {
    await work();
  } catch (error) {
    expect((error as Error).message).to.equal('killed');
  } finally {
    stop();
  }
  return killed;
}

describe('a process that is killed at any database call', () => {
  let board: Board;
  let author: Actor;
  let no: number;
  let others = 0;

  before(async () => {
    board = await buildBoard();
    ({ no, author } = await board.article());
  });

  /** A member of whom nothing but the number matters. */
  const somebody = (): Actor => ({ ...author, no: 1_000_000 + ++others });

  /** By what is done: what has to be there first, and then the call itself, on the board that is killed. */
  const calls: Record<string, () => Promise<(victim: Board) => Promise<unknown>>> = {
    'giving an article a heart': async () => (victim) =>
      victim.community.giveHeart(somebody(), 'article', no),
    'taking a heart from an article': async () => {
      const giver = somebody();
      await board.community.giveHeart(giver, 'article', no);
      return (victim) => victim.community.removeHeart(giver, 'article', no);
    },
    'giving a comment a heart': async () => {
      const id = await board.comment(author, no);
      return (victim) => victim.community.giveHeart(somebody(), 'comment', id);
    },
    'taking a heart from a comment': async () => {
      const id = await board.comment(author, no);
      await board.community.giveHeart(author, 'comment', id);
      return (victim) => victim.community.removeHeart(author, 'comment', id);
    },
    commenting: async () => (victim) => victim.comment(somebody(), no),
    'replying to a comment': async () => {
      const id = await board.comment(author, no);
      return (victim) => victim.comment(somebody(), no, id);
    },
    'deleting a comment that has a reply': async () => {
      const id = await board.comment(author, no);
      await board.comment(author, no, id);
      await board.community.giveHeart(author, 'comment', id);
      return (victim) => victim.community.deleteComment(author, id);
    },
    'deleting the last reply of a deleted comment': async () => {
      const id = await board.comment(author, no);
      const reply = await board.comment(author, no, id);
      await board.community.deleteComment(author, id);
      return (victim) => victim.community.deleteComment(author, reply);
    },
    'deleting an article': async () => {
      const own = await board.article(author);
      const id = await board.comment(author, own.no);
      await Promise.all([
        board.community.giveHeart(author, 'article', own.no),
        board.community.giveHeart(author, 'comment', id),
        board.community.addBookmark(author, own.no),
      ]);
      no = own.no;
      return (victim) => victim.community.deleteArticle(author, own.no);
    },
  };

  for (const [what, prepare] of Object.entries(calls)) {
    it(`${what}: the next sweep leaves all counts and marks right`, async () => {
      for (let call = 0, killed = true; killed; call += 1) {
        const work = await prepare();
        const [victim, next] = [await buildBoard(), await buildBoard()];
        killed = await killAt(call, () => work(victim));
        // Whoever came to the end has left nothing to do.
        if (killed) await next.community.sweep();
        await expectConsistent(no);
      }
    });
  }
});
