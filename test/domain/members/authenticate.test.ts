import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createAuthenticator } from '../../../domain/members/authenticate.js';
import { Member } from '../../../domain/members/member.model.js';
import { createMemberDirectory } from '../../../domain/members/member-directory.js';
import { service } from '../../support/service.js';
import { later } from '../../support/time.js';

/** How many accepted tokens are remembered. */
const REMEMBERED = 20_000;

describe('an accepted token', () => {
  const clock = {
    at: 1_700_000_000_000,
    now() {
      return this.at;
    },
  };
  let email: string;
  /** Tokens whose signature was looked at, in order. */
  let checked: string[];
  let nickname: string;
  const directory = createMemberDirectory();

  const open = () =>
    createAuthenticator(
      clock,
      async (token) => {
        checked.push(token);
        if (token === 'bad') throw new Error('not valid');
        return {
          email,
          nickname,
          claimedRole: null,
          issuedAt: clock.at / 1_000,
          expiresAt: clock.at / 1_000 + 3_600,
        };
      },
      directory,
    );

  before(service);
  beforeEach(() => {
    email = `${randomUUID()}@example.org`;
    nickname = 'first';
    checked = [];
  });

  it('is verified again after ten seconds, and not before', async () => {
    const authenticate = open();
    const { actor } = await authenticate('token');
    await later(9_900, async () => expect((await authenticate('token')).actor).to.deep.equal(actor));
    expect(checked).to.deep.equal(['token']);
    await Member.updateOne({ _id: actor.no }, { $set: { leftAt: new Date() } });
    await later(10_100, async () => {
      const refused = await authenticate('token').catch((error) => error);
      expect(refused).to.include({ code: 'UNAUTHORIZED' });
    });
  });

  it('expires on time even while cached', async () => {
    const authenticate = open();
    const { expiresAt } = await authenticate('token');
    expect(expiresAt).to.equal(clock.at + 3_600_000);
    clock.at = expiresAt - 1;
    expect(await authenticate('token')).to.include({ expiresAt });
    clock.at = expiresAt;
    expect(await authenticate('token').catch((error) => error)).to.include({ code: 'TOKEN_EXPIRED' });
    expect(checked).to.deep.equal(['token']);
  });

  it('is cached, a refused one is not', async () => {
    const authenticate = open();
    for (let i = 0; i < 2; i += 1) {
      expect(await authenticate('bad').catch((error) => error)).to.be.an('error');
    }
    expect(checked).to.deep.equal(['bad', 'bad']);
  });

  it('is evicted by newer ones', async () => {
    const authenticate = open();
    await authenticate('0');
    await Promise.all(Array.from({ length: REMEMBERED }, (_, i) => authenticate(`${i + 1}`)));
    checked = [];
    await authenticate(`${REMEMBERED}`);
    await authenticate('1');
    await authenticate('0');
    expect(checked).to.deep.equal(['0']);
  });

  it('updates its member in this process at once', async () => {
    const authenticate = open();
    const { actor } = await authenticate('token');
    expect(await directory.lookUp([actor.no])).to.deep.equal(new Map([[actor.no, actor]]));
    nickname = 'second';
    clock.at += 1_000;
    await authenticate('another token');
    expect((await directory.lookUp([actor.no])).get(actor.no)).to.include({ nickname: 'second' });
    expect(await directory.current(actor)).to.include({ nickname: 'second' });
  });
});
