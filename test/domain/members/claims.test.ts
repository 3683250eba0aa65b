import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Actor } from '../../../domain/kernel/actor.js';
import { Member } from '../../../domain/members/member.model.js';
import { member } from '../../support/api.js';
import { createRandom } from '../../support/random.js';
import { service } from '../../support/service.js';
import { refusal } from '../../support/sockets.js';

describe('claims about members', () => {
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

  it('create one member per address in any case, named by its local part', async () => {
    const { domain, token } = await service();
    const id = randomUUID();
    const [upper, lower] = await Promise.all([token(`${id}@Example.ORG`), token(`${id}@example.org`)]);
    const both = await Promise.all([domain.members.authenticate(upper), domain.members.authenticate(lower)]);
    expect(both[0].actor).to.deep.equal(both[1].actor);
    expect(both[0].actor).to.include({ nickname: id, profile: '', role: 'USER', email: `${id}@example.org` });
  });

  it('update what newer claims say, and keep the rest', async () => {
    const email = address();
    const first = await record({ email, nickname: 'first', role: 'ADMIN', issuedAt: 100 });
    expect(await record({ email, nickname: 'second', issuedAt: 200 })).to.deep.equal({
      ...first,
      nickname: 'second',
    });
  });

  it('update fields within the same second, too', async () => {
    const { domain } = await service();
    const { record: save } = domain.members;
    const email = `${'l'.repeat(60)}${randomUUID().slice(0, 4)}@example.org`;
    const started = Date.now();
    const first = await save({ email, profile: '/a.svg', issuedAt: 100 });
    expect(first).to.include({ nickname: 'l'.repeat(50), profile: '/a.svg', role: 'USER' });
    for (const facts of [
      { nickname: 'other' },
      { profile: '/b.svg' },
      { role: 'ADMIN' as const },
      { profile: '' },
      { role: 'USER' as const, nickname: 'last' },
    ]) {
      const before = await Member.findOne({ email }).lean();
      expect(await save({ email, issuedAt: 100, ...facts })).to.include(facts);
      const granted = 'role' in facts ? { granted: true } : {};
      expect(await Member.findOne({ email }).lean()).to.deep.equal({ ...before, ...facts, ...granted });
    }
    const stored = await Member.findOne({ email }).lean();
    expect(stored?.createdAt.getTime()).to.be.within(started, Date.now());
  });

  it('change no name that differs in its form of Unicode only', async () => {
    const { domain } = await service();
    const email = address();
    const [composed, decomposed] = ['나비'.normalize('NFC'), '나비'.normalize('NFD')];
    expect(await record({ email, nickname: decomposed, issuedAt: 100 })).to.include({ nickname: decomposed });
    expect(await record({ email, nickname: composed, issuedAt: 200 })).to.include({ nickname: decomposed });
    const [saved] = await domain.members.saveAll([{ email, nickname: composed, issuedAt: 300 }]);
    expect(saved).to.include({ outcome: 'unchanged' });
  });

  it('are saved in bulk, with the outcomes in order', async () => {
    const { domain } = await service();
    const [same, changed, older, gone, fresh, late] = Array.from({ length: 6 }, address) as [
      string,
      ...string[],
    ];
    for (const email of [same, changed, older, gone])
      await domain.members.record({ email: email as string, nickname: 'known', issuedAt: 100 });
    await Member.updateOne({ email: gone }, { $set: { leftAt: new Date() } });
    const facts = [fresh, same, changed, older, gone, late].map((email) => ({
      email: email as string,
      nickname: email === same ? 'known' : 'new',
      issuedAt: email === older ? 99 : 200,
    }));
    const saved = await domain.members.saveAll(facts);
    expect(saved.map(({ outcome }) => outcome)).to.deep.equal([
      'created',
      'unchanged',
      'updated',
      'unchanged',
      'left',
      'created',
    ]);
    expect(saved.map(({ actor }) => actor.email)).to.deep.equal(facts.map(({ email }) => email));
    const nicknames = ['new', 'known', 'new', 'known', 'known', 'new'];
    expect(saved.map(({ actor }) => actor.nickname)).to.deep.equal(nicknames);
    const records = await Member.find({ email: { $in: facts.map(({ email }) => email) } }).lean();
    const stored = new Map(records.map((record) => [record.email, record]));
    expect(facts.map(({ email }) => stored.get(email)?.nickname)).to.deep.equal(nicknames);
    expect(saved.map(({ actor }) => actor.no)).to.deep.equal(
      facts.map(({ email }) => stored.get(email)?._id),
    );
    const times = [same, changed, older].map((email) => stored.get(email as string)?.claimsAt);
    expect(times).to.deep.equal([200, 200, 100]);
    // This process shows it from now on.
    const [first] = saved;
    const oldCopy = { ...(first?.actor as Actor), nickname: 'old copy' };
    expect(await domain.members.directory.current(oldCopy)).to.equal(first?.actor);
  });

  it('saved in bulk do not undo newer ones that are stored meanwhile', async () => {
    const { domain } = await service();
    const email = address();
    await record({ email, nickname: 'old', issuedAt: 100 });
    const { bulkWrite } = Member;
    Object.assign(Member, {
      bulkWrite: async (...writes: Parameters<typeof bulkWrite>) => {
        await record({ email, nickname: 'newest', issuedAt: 300 });
        return bulkWrite.apply(Member, writes);
      },
    });
    try {
      await domain.members.saveAll([{ email, nickname: 'new', issuedAt: 200 }]);
    } finally {
      Object.assign(Member, { bulkWrite });
    }
    expect(await Member.findOne({ email }).lean()).to.include({ nickname: 'newest', claimsAt: 300 });
  });

  it('concurrently saved in bulk create one member each', async () => {
    const { domain } = await service();
    const facts = Array.from({ length: 20 }, () => ({ email: address(), issuedAt: 1 }));
    const [one, two] = await Promise.all([domain.members.saveAll(facts), domain.members.saveAll(facts)]);
    expect(one.map(({ actor }) => actor)).to.deep.equal(two.map(({ actor }) => actor));
    expect(await Member.countDocuments({ email: { $in: facts.map(({ email }) => email) } })).to.equal(20);
  });

  it('are not undone by older claims', async () => {
    const email = address();
    await record({ email, nickname: 'new', issuedAt: 200 });
    expect(await record({ email, nickname: 'old', issuedAt: 100 })).to.include({ nickname: 'new' });
  });

  it('are not undone by claims older than ones that changed nothing', async () => {
    // The date of claims was kept only when they changed something, so a token of the time in between
    // brought back a nickname that a later one had already confirmed to be over.
    const email = address();
    await record({ email, nickname: 'now', issuedAt: 100 });
    await record({ email, nickname: 'now', issuedAt: 300 });
    expect(await record({ email, nickname: 'then', issuedAt: 200 })).to.include({ nickname: 'now' });
  });

  it('end with the newest ones if many come at once', async () => {
    const email = address();
    const times = createRandom('CLAIMS_SEED').shuffle(Array.from({ length: 20 }, (_, i) => i + 1));
    await Promise.all(times.map((at) => record({ email, nickname: `n${at}`, issuedAt: at })));
    expect(await Member.countDocuments({ email })).to.equal(1);
    expect(await Member.findOne({ email }).lean()).to.include({ nickname: 'n20', claimsAt: 20 });
  });

  it('6: refuse a member who has left, by REST and by socket', async () => {
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
