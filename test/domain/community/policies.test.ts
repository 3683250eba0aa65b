import { expect } from 'chai';
import { mayChangeArticle } from '../../../domain/community/articles/article.policy.js';
import { mayChangeComment } from '../../../domain/community/comments/comment.policy.js';
import type { Actor, Role } from '../../../domain/kernel/actor.js';

function actor(no: number, role: Role = 'USER'): Actor {
  return { no, role, email: `m${no}@example.org`, nickname: `m${no}`, profile: '' };
}

for (const [what, may] of Object.entries({ mayChangeArticle, mayChangeComment })) {
  describe(what, () => {
    it('lets the author', () => expect(may(actor(1), { authorNo: 1 })).to.equal(true));
    it('lets an administrator', () => expect(may(actor(2, 'ADMIN'), { authorNo: 1 })).to.equal(true));
    it('lets nobody else', () => expect(may(actor(2), { authorNo: 1 })).to.equal(false));
  });
}
