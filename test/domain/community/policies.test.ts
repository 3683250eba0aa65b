import { expect } from 'chai';
import { mayChange } from '../../../domain/community/community.policy.js';
import type { Actor, Role } from '../../../domain/kernel/actor.js';

function actor(no: number, role: Role = 'USER'): Actor {
  return { no, role, email: `m${no}@example.org`, nickname: `m${no}`, profile: '' };
}

describe('articles and comments may be changed', () => {
  it('by their author', () => expect(mayChange(actor(1), { authorNo: 1 })).to.equal(true));
  it('by an administrator', () => expect(mayChange(actor(2, 'ADMIN'), { authorNo: 1 })).to.equal(true));
  it('by nobody else', () => expect(mayChange(actor(2), { authorNo: 1 })).to.equal(false));
});
