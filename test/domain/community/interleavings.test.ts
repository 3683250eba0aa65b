import { expect } from 'chai';
import { Comment } from '../../../domain/community/comment.model.js';
import { Heart } from '../../../domain/community/heart.model.js';
import type { Actor } from '../../../domain/kernel/actor.js';
import {
  type Board,
  buildBoard,
  COMMUNITY_MODELS,
  expectConsistent,
  outcome,
} from '../../support/community.js';
import { interceptCalls } from '../../support/database-calls.js';
import { createRandom } from '../../support/random.js';

/** Rounds, and members that act in each. */
const ROUNDS = 6;
const MEMBERS = 3;

/** What a call may be told where another one came first. */
const LOST = [
  'ok',
  ...['ARTICLE_NOT_FOUND', 'COMMENT_NOT_FOUND', 'HEART_NOT_FOUND', 'BOOKMARK_NOT_FOUND'],
  ...['ALREADY_HEARTED', 'ALREADY_BOOKMARKED'],
];

describe('in any order of several processes’ database calls', () => {
  const random = createRandom('INTERLEAVINGS_SEED');

  /** Makes every database call, and hands on every answer, one at a time and in a random order. */
  async function shuffled(work: () => Promise<void>): Promise<void> {
    const waiting: (() => void)[] = [];
    const turn = () => new Promise<void>((resolve) => waiting.push(resolve));
    const stop = interceptCalls(COMMUNITY_MODELS, async (_model, _call, run) => {
      await turn();
      const answer = await run();
      await turn();
      return answer;
    });
    const pump = setInterval(() => waiting.splice(random.below(waiting.length), 1)[0]?.(), 0);
    try {
      await work();
    } finally {
      clearInterval(pump);
      for (const resolve of waiting) resolve();
      stop();
    }
  }

  it('42: counts equal their records, and everyone is notified', async () => {
    const boards = [await buildBoard(), await buildBoard()] as const;
    const boardOf = (): Board => random.pick(boards);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { no, author } = await boards[0].article();
      const members: Actor[] = Array.from({ length: MEMBERS }, (_, i) => ({ ...author, no: 2_000_000 + i }));
      const parentId = await boards[0].comment(author, no);
      const replyId = await boards[0].comment(author, no, parentId);
      const told: [what: string, code: string][] = [];
      const act = async (what: string, call: Promise<unknown>) => {
        const code = await outcome(call);
        expect(LOST, what).to.include(code);
        told.push([what, code]);
      };
      const actsOf = (member: Actor) => [
        ...[['article', no] as const, ['comment', parentId] as const].flatMap(([target, id]) => {
          const key = `${target} ${member.no}`;
          return [
            act(`give ${key}`, boardOf().community.giveHeart(member, target, id)),
            act(`give ${key}`, boardOf().community.giveHeart(member, target, id)),
            act(`take ${key}`, boardOf().community.removeHeart(member, target, id)),
          ];
        }),
        act('bookmark', boardOf().community.addBookmark(member, no)),
        act('reply', boardOf().comment(member, no, parentId)),
      ];
      const actsOn = (id: number) => [
        act(`delete ${id}`, boardOf().community.deleteComment(author, id)),
        act(`delete ${id}`, boardOf().community.deleteComment(author, id)),
        act('edit', boardOf().community.editComment(author, id, 'Edited')),
      ];
      await shuffled(async () => {
        const all = [...members.flatMap(actsOf), ...[parentId, replyId].flatMap(actsOn)];
        // In every third round the article is deleted meanwhile.
        if (round % 3 === 2) all.push(act('delete', boardOf().community.deleteArticle(author, no)));
        await Promise.all(all);
      });
      await expectConsistent(no);
      const oks = (what: string) => told.filter(([each, code]) => each === what && code === 'ok').length;
      if (round % 3 === 2) {
        expect(oks('delete')).to.equal(1);
        continue;
      }
      for (const id of [parentId, replyId]) expect(oks(`delete ${id}`)).to.equal(1);
      expect(await Comment.countDocuments({ parentId, state: 'live' })).to.equal(oks('reply'));
      for (const { no: memberNo } of members) {
        const on = await Heart.countDocuments({ target: 'article', id: no, memberNo });
        expect(oks(`give article ${memberNo}`) - oks(`take article ${memberNo}`)).to.equal(on);
      }
    }
  });
});
