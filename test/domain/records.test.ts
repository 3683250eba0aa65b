import { expect } from 'chai';
import { Article } from '../../domain/community/article.model.js';
import { Bookmark } from '../../domain/community/bookmark.model.js';
import { Comment } from '../../domain/community/comment.model.js';
import { Member } from '../../domain/members/member.model.js';

const now = new Date();

interface Kind {
  model: typeof Article;
  /** What a record of it must have. */
  needed: object;
  /** A value that it does not take. */
  wrong?: object;
}

const kinds: Kind[] = [
  {
    model: Article,
    needed: { authorNo: 1, categoryId: 0, title: 'A', context: 'B', state: 'live', publishedAt: now },
    wrong: { state: 'gone' },
  },
  { model: Bookmark as never, needed: { articleId: 1, memberNo: 1, at: now } },
  {
    model: Comment as never,
    needed: { articleId: 1, authorNo: 1, state: 'live', publishedAt: now },
    wrong: { state: 'deleted' },
  },
  {
    model: Member as never,
    needed: { email: 'somebody@example.org', nickname: 'Somebody', role: 'USER', createdAt: now },
    wrong: { role: 'OWNER' },
  },
];

describe('a record', () => {
  for (const { model, needed, wrong = {} } of kinds) {
    const faultsOf = async (fields: object) => {
      const { errors } = await new model(fields).validate().then(
        () => ({ errors: {} }),
        (error: { errors: object }) => error,
      );
      return Object.keys(errors);
    };

    it(`of ${model.modelName} is refused without required fields, and with an unknown state or role`, async () => {
      expect(await faultsOf(needed)).to.deep.equal([]);
      expect(await faultsOf({})).to.have.members(Object.keys(needed));
      expect(await faultsOf({ ...needed, ...wrong })).to.deep.equal(Object.keys(wrong));
    });
  }

  it('of a new article has no views, hearts and comments', () => {
    const counts = { views: 0, hearts: 0, heartsVersion: 0, comments: 0, commentsVersion: 0 };
    expect(new Article({}).toObject()).to.deep.include(counts);
  });
});
