import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Member } from '../../domain/members/member.model.js';
import { member } from '../support/api.js';
import { service } from '../support/service.js';
import { refusal } from '../support/sockets.js';

describe('what tokens say of members', () => {
  async function record(facts: {
    nickname?: string;
    role?: 'ADMIN' | 'USER';
    issuedAt: number;
    email: string;
  }) {
    const { domain } = await service();
    return domain.members.record(facts);
  }
  const address = () => `${randomUUID()}@example.org`;

  it('makes one member of an address in any case, with the public part of it for a nickname', async () => {
    const { domain, token } = await service();
    const id = randomUUID();
    const [upper, lower] = await Promise.all([token(`${id}@Example.ORG`), token(`${id}@example.org`)]);
    const both = await Promise.all([domain.members.authenticate(upper), domain.members.authenticate(lower)]);
    expect(both[0].actor).to.deep.equal(both[1].actor);
    expect(both[0].actor).to.include({ nickname: id, profile: '', role: 'USER', email: `${id}@example.org` });
  });

  it('takes over newer claims and keeps what they do not say', async () => {
    const email = address();
    const first = await record({ email, nickname: 'first', role: 'ADMIN', issuedAt: 100 });
    expect(await record({ email, nickname: 'second', issuedAt: 200 })).to.deep.equal({
      ...first,
      nickname: 'second',
    });
  });

  it('is not undone by older claims', async () => {
    const email = address();
    await record({ email, nickname: 'new', issuedAt: 200 });
    expect(await record({ email, nickname: 'old', issuedAt: 100 })).to.include({ nickname: 'new' });
  });

  it('is not undone by claims older than ones that changed nothing', async () => {
    // The date of claims was kept only when they changed something, so a token of the time in between
    // brought back a nickname that a later one had already confirmed to be over.
    const email = address();
    await record({ email, nickname: 'now', issuedAt: 100 });
    await record({ email, nickname: 'now', issuedAt: 300 });
    expect(await record({ email, nickname: 'then', issuedAt: 200 })).to.include({ nickname: 'now' });
  });

  it('ends with the newest claims when many come at once', async () => {
    const email = address();
    const times = Array.from({ length: 20 }, (_, i) => i + 1).sort(() => Math.random() - 0.5);
    await Promise.all(times.map((at) => record({ email, nickname: `n${at}`, issuedAt: at })));
    expect(await Member.countDocuments({ email })).to.equal(1);
    expect(await Member.findOne({ email }).lean()).to.include({ nickname: 'n20', claimsAt: 20 });
  });

  it('refuses a member who has left, by REST and by socket', async () => {
    const gone = await member();
    await Member.updateOne({ _id: gone.no }, { $set: { leftAt: new Date() } });
    const { token } = await service();
    // Another token: an accepted one is trusted for some seconds more.
    const jwt = await token(gone.email, { nickname: 'back again' });
    const answer = await gone.get('/chatroom', { Authorization: jwt });
    expect(answer.status).to.equal(401);
    expect(answer.body).to.deep.equal({
      status: 401,
      message: 'UNAUTHORIZED',
      errors: ['this member has left'],
    });
    expect((await refusal({ auth: { token: jwt } })).data).to.deep.equal(answer.body);
  });
});
