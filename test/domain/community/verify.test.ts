import { expect } from 'chai';
import { Article } from '../../../domain/community/article.model.js';
import { Bookmark } from '../../../domain/community/bookmark.model.js';
import { Comment } from '../../../domain/community/comment.model.js';
import { Heart } from '../../../domain/community/heart.model.js';
import { checkCommunity } from '../../../domain/community/index.js';
import type { Actor } from '../../../domain/kernel/actor.js';
import type { Finding } from '../../../domain/kernel/verification.js';
import { type Board, buildBoard, expectConsistent } from '../../support/community.js';
import { interceptCalls, meanwhile } from '../../support/database-calls.js';

/** Before anything that may be in progress. */
const LONG_AGO = new Date(Date.now() - 3_600_000);

/** All that is found, how many records were looked at, and how many of them at a time at most. */
async function look(): Promise<{ findings: Finding[]; looked: number; most: number; sizes: number }> {
  const findings: Finding[] = [];
  let [looked, most, sizes] = [0, 0, 0];
  for (const check of checkCommunity()) {
    sizes += await check.size();
    const told = (count: number) => {
      looked += count;
      most = Math.max(most, count);
    };
    for await (const finding of check.run(told)) findings.push(finding);
  }
  return { findings, looked, most, sizes };
}

describe('verifying the community', () => {
  let board: Board;
  let author: Actor;
  let no: number;
  let commentId: number;
  let replyId: number;

  /** An article with a heart and a bookmark, two comments and a reply; one comment has a heart. */
  async function fill(): Promise<void> {
    board = await buildBoard();
    ({ no, author } = await board.article());
    commentId = await board.comment(author, no);
    replyId = await board.comment(author, no, commentId);
    await board.comment(author, no);
    await board.community.giveHeart(author, 'article', no);
    await board.community.giveHeart(author, 'comment', commentId);
    await board.community.addBookmark(author, no);
  }

  beforeEach(fill);

  async function texts(): Promise<string[]> {
    const { findings } = await look();
    return findings.filter(({ kind }) => kind !== 'sequence').map(({ text }) => text);
  }

  const heart = (over: object = {}) => ({
    target: 'article' as const,
    id: no,
    memberNo: 900_000_009,
    articleId: no,
    on: true,
    at: LONG_AGO,
    turn: 1,
    ...over,
  });

  const commentOf = (_id: number, parentId = 0) => ({
    ...{ _id, articleId: no, parentId, authorNo: author.no, context: 'Hi', state: 'live' as const },
    ...{ publishedAt: LONG_AGO, hearts: 0 },
  });

  it('finds nothing in sound data, and checks every record', async () => {
    const { findings, looked, sizes } = await look();
    expect(findings).to.deep.equal([]);
    expect(looked).to.equal(sizes);
    expect(sizes).to.equal((await Article.countDocuments({})) + (await Comment.countDocuments({})) + 2);
  });

  it('finds nothing in removed hearts, deleted comments and deleted articles', async () => {
    await Heart.create(heart({ on: false }), heart({ on: false, target: 'comment', id: commentId }));
    await board.community.deleteComment(author, commentId);
    expect(await texts()).to.deep.equal([]);
    await board.community.deleteComment(author, replyId);
    expect(await texts()).to.deep.equal([]);
    await board.community.deleteArticle(author, no);
    await Comment.updateOne({ _id: commentId }, { $set: { state: 'flagged', hearts: 7 } });
    expect(await texts()).to.deep.equal([]);
    await Heart.deleteMany({ articleId: no });
  });

  it('finds contradictions, nothing else, and repairs them', async () => {
    /** What is planted in an article with comments and hearts as above, and what is to be found of it. */
    const faults: (() => Promise<string>)[] = [
      async () => {
        await Article.updateOne({ _id: no }, { $inc: { hearts: 2 } });
        return `article ${no} hearts: 3, but its records say 1`;
      },
      async () => {
        await Heart.deleteMany({ articleId: no, target: 'article' });
        return `article ${no} hearts: 1, but its records say 0`;
      },
      async () => {
        await Article.updateOne({ _id: no }, { $set: { comments: 1 } });
        return `article ${no} comments: 1, but its records say 3`;
      },
      async () => {
        await board.community.deleteArticle(author, no);
        await Heart.create(heart(), heart({ target: 'comment', id: commentId }));
        await Bookmark.create({ articleId: no, memberNo: 900_000_009, at: LONG_AGO });
        return `article ${no} deletion: it was deleted, but 3 hearts and bookmarks remain`;
      },
      async () => {
        await board.community.deleteArticle(author, no);
        await Bookmark.create({ articleId: no, memberNo: 900_000_009, at: LONG_AGO });
        return `article ${no} deletion: it was deleted, but 1 hearts and bookmarks remain`;
      },
      async () => {
        await Heart.create(heart({ target: 'comment', id: commentId }));
        return `comment ${commentId} hearts: 1, but its records say 2`;
      },
      async () => {
        await board.community.deleteComment(author, replyId);
        await Comment.updateOne({ _id: replyId }, { $set: { state: 'flagged' } });
        return `comment ${replyId} state: flagged, but its records say gone`;
      },
      async () => {
        await board.community.deleteComment(author, commentId);
        await Comment.updateOne({ _id: commentId }, { $set: { state: 'gone' } });
        return `comment ${commentId} state: gone, but its records say flagged`;
      },
    ];
    const expected: string[] = [];
    const numbers: number[] = [];
    for (const plant of faults) {
      await fill();
      expected.push(await plant());
      numbers.push(no);
    }
    const { findings } = await look();
    expect(findings.map(({ text }) => text)).to.deep.equal(expected);
    for (const { repair } of findings) await repair?.();
    expect(await texts()).to.deep.equal([]);
    for (const each of numbers) await expectConsistent(each);
  });

  it('checks any number of records, five hundred at a time', async () => {
    const many = Array.from({ length: 1_001 }, (_, i) => ({
      _id: 1_000_000_000 + i,
      state: 'live',
      comments: 0,
      hearts: i === 1_000 ? 1 : 0,
    }));
    await Article.collection.insertMany(many as never[]);
    try {
      const { findings, looked, most, sizes } = await look();
      expect(findings.map(({ text }) => text)).to.deep.equal([
        'article 1000001000 hearts: 1, but its records say 0',
        findings[1]?.text,
      ]);
      // They were given past the sequence.
      expect(findings[1]?.text).to.match(
        /^sequence article: stands at \d+, but number 1000001000 is in use$/,
      );
      expect([looked, most]).to.deep.equal([sizes, 500]);
    } finally {
      await Article.deleteMany({ _id: { $gte: 1_000_000_000 } });
    }
  });

  it('does not report a write in progress', async () => {
    const giver = await board.member('Giver');
    let found: Promise<string[]> | undefined;
    await meanwhile(
      'before',
      [Article, 'updateOne'],
      // The count of this heart is held until the first look has seen that it is missing.
      () =>
        new Promise<void>((resolve) => {
          found = meanwhile('after', [Heart, 'aggregate'], resolve, texts);
        }),
      () => board.community.giveHeart(giver, 'article', no),
    );
    expect(await found).to.deep.equal([]);
  });

  it('does not report what a mark of an unfinished change explains, however long it takes', async () => {
    const pending = new Date();
    const marked = [
      [Heart, await Heart.create(heart({ pending }))],
      [Heart, await Heart.create(heart({ target: 'comment', id: commentId, pending }))],
      [Comment, await Comment.create({ ...commentOf(2_000_000_001), pending })],
      [Comment, await Comment.create({ ...commentOf(2_000_000_002, replyId), state: 'flagged', pending })],
    ] as const;
    try {
      expect(await texts()).to.deep.equal([]);
      for (const [model, { _id }] of marked)
        await (model as typeof Comment).updateOne({ _id: _id as never }, { $unset: { pending: 1 } });
      expect(await texts()).to.deep.equal([
        `article ${no} hearts: 1, but its records say 2`,
        `article ${no} comments: 3, but its records say 4`,
        `comment ${commentId} hearts: 1, but its records say 2`,
        'comment 2000000002 state: flagged, but its records say gone',
      ]);
    } finally {
      await Comment.deleteMany({ _id: { $gte: 2_000_000_000 } });
      await board.community.deleteArticle(author, no);
    }
  });

  it('does not report the same numbers of two writes that each were in progress', async () => {
    await Article.updateOne({ _id: no }, { $inc: { hearts: 1 } });
    let looks = 0;
    const stop = interceptCalls([Bookmark], async (_model, _call, run) => {
      // Between the looks a count was stored, and another change has begun.
      looks += 1;
      if (looks === 1) await Article.updateOne({ _id: no }, { $inc: { heartsVersion: 1 } });
      return run();
    });
    try {
      expect(await texts()).to.deep.equal([]);
    } finally {
      stop();
    }
    expect(await texts()).to.deep.equal([`article ${no} hearts: 2, but its records say 1`]);
    await board.community.deleteArticle(author, no);
  });
});
