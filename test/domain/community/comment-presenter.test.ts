import { expect } from 'chai';
import type { CommentRecord } from '../../../domain/community/comment.model.js';
import { presentComments } from '../../../domain/community/comment.presenter.js';
import { createLocalDateTime } from '../../../domain/kernel/local-date-time.js';

function comment(_id: number, over: Partial<CommentRecord> = {}): CommentRecord {
  return {
    _id,
    articleId: 1,
    parentId: 0,
    authorNo: 5,
    context: `text ${_id}`,
    state: 'live',
    publishedAt: new Date('2022-08-01T03:34:56.123Z'),
    hearts: 0,
    heartsVersion: 0,
    repliesVersion: 0,
    ...over,
  };
}

function present(comments: CommentRecord[], readerNo?: number) {
  return presentComments(comments, {
    authors: new Map([[5, { nickname: 'Haru', profile: '/p/5.png' }]]),
    reader:
      readerNo === undefined
        ? undefined
        : { no: readerNo, email: '', nickname: '', profile: '', role: 'USER' as const },
    localTime: createLocalDateTime('Asia/Seoul'),
  });
}

describe('comment presenter', () => {
  it('shows exactly the documented fields; a reply has no comments field', () => {
    const shown = present([comment(1, { hearts: 3 }), comment(2, { parentId: 1, authorNo: 6 })], 5);
    const common = { publishedAt: '2022-08-01T12:34:56.123000', deleteStatus: 0, blindStatus: 0 };
    expect(shown).to.deep.equal([
      {
        ...common,
        type: 0,
        mine: true,
        id: 1,
        author: 'Haru',
        authorId: 5,
        context: 'text 1',
        profile: '/p/5.png',
        like: 3,
        comments: [
          {
            ...common,
            type: 1,
            mine: false,
            id: 2,
            // A member who is not on record any more.
            author: '',
            authorId: 6,
            context: 'text 2',
            profile: '',
            like: 0,
          },
        ],
      },
    ]);
  });

  it('orders comments and replies oldest first', () => {
    const shown = present([comment(9), comment(4, { parentId: 2 }), comment(3, { parentId: 2 }), comment(2)]);
    expect(shown.map(({ id, comments }) => [id, comments.map((reply) => reply.id)])).to.deep.equal([
      [2, [3, 4]],
      [9, []],
    ]);
  });

  it('shows flagged comments as deleted, and neither gone ones nor deleted replies', () => {
    const shown = present([
      comment(1, { state: 'flagged', context: '' }),
      comment(2, { parentId: 1 }),
      comment(3, { parentId: 1, state: 'flagged' }),
      comment(4, { state: 'gone' }),
      comment(5, { parentId: 4 }),
    ]);
    expect(
      shown.map(({ id, context, deleteStatus, comments }) => [id, context, deleteStatus, comments.length]),
    )
      .to //
      .deep.equal([[1, '', 1, 1]]);
  });

  it('marks nothing as the reader’s own without a token', () => {
    expect(present([comment(1)])[0]?.mine).to.equal(false);
  });
});
