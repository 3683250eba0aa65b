import { expect } from 'chai';
import { requireMayChange } from '../../../domain/community/community.policy.js';
import type { Actor, Role } from '../../../domain/kernel/actor.js';

function actor(no: number, role: Role = 'USER'): Actor {
  return { no, role, email: `m${no}@example.org`, nickname: `m${no}`, profile: '' };
}

describe('articles and comments may be changed', () => {
  const change = (who: Actor) => () => requireMayChange(who, { authorNo: 1 }, 'edit an article');
  it('by their author', () => expect(change(actor(1))).not.to.throw());
  it('by an administrator', () => expect(change(actor(2, 'ADMIN'))).not.to.throw());
  it('by nobody else', () => expect(change(actor(2))).to.throw('FORBIDDEN'));
});
