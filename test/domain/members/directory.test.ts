import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Person } from '../../../domain/kernel/actor.js';
import { Member } from '../../../domain/members/member.model.js';
import { createMemberDirectory, type MemberDirectory } from '../../../domain/members/member-directory.js';
import { nextTurn } from '../../support/eventually.js';
import { service } from '../../support/service.js';
import { later } from '../../support/time.js';

/** How many members are held in memory. */
const HELD = 50_000;

describe('the directory of members', () => {
  /** One process's directory, and what this process writes past it: as another process would. */
  let directory: MemberDirectory;
  const actors = (nicknames: string[]) =>
    Promise.all(
      nicknames.map(async (nickname): Promise<Person> => {
        const email = `${randomUUID()}@example.org`;
        const { domain } = await service();
        const { role: _, ...person } = await domain.members.record({ email, nickname, issuedAt: 0 });
        return person;
      }),
    );
  const leave = ({ no }: Person) => Member.updateOne({ _id: no }, { $set: { leftAt: new Date() } });

  beforeEach(() => {
    directory = createMemberDirectory();
  });

  it('leaves out unknown numbers, and returns each member once', async () => {
    const [one] = (await actors(['one'])) as [Person];
    expect(await directory.lookUp([one.no, 2 ** 40, one.no])).to.deep.equal(new Map([[one.no, one]]));
    expect(await directory.lookUp([one.no, 2 ** 40])).to.deep.equal(new Map([[one.no, one]]));
  });

  it('shows another process’s change within five seconds, and reads no more often', async () => {
    const [one] = (await actors(['before'])) as [Person];
    await directory.lookUp([one.no]);
    await Member.updateOne({ _id: one.no }, { $set: { nickname: 'after' } });
    const shown = async () => (await directory.lookUp([one.no])).get(one.no)?.nickname;
    // Half of the time: a busy machine takes some itself.
    expect(await later(2_500, shown)).to.equal('before');
    expect(await later(5_100, shown)).to.equal('after');
  });

  it('shows it within a minute where no other process serves', async () => {
    const [one] = (await actors(['before'])) as [Person];
    const alone = createMemberDirectory(false);
    await alone.lookUp([one.no]);
    await Member.updateOne({ _id: one.no }, { $set: { nickname: 'after' } });
    const shown = async () => (await alone.lookUp([one.no])).get(one.no)?.nickname;
    expect(await later(30_000, shown)).to.equal('before');
    expect(await later(60_100, shown)).to.equal('after');
  });

  it('keeps what this process has learnt during a read', async () => {
    const [one] = (await actors(['stored'])) as [Person];
    for (const read of [() => directory.lookUp([one.no]), () => directory.current(one)]) {
      directory = createMemberDirectory();
      const reading = read();
      directory.remember({ ...one, nickname: 'learnt' });
      await reading;
      expect(await directory.current(one)).to.include({ nickname: 'learnt' });
    }
  });

  it('tells what a member is now: for a minute from memory, then from the database', async () => {
    const [one] = (await actors(['stored'])) as [Person];
    const copy = { ...one, nickname: 'of a connection' };
    directory.remember({ ...one, nickname: 'learnt' });
    const current = () => directory.current(copy);
    expect(await later(30_000, current)).to.include({ nickname: 'learnt' });
    expect(await later(60_100, current)).to.include({ nickname: 'stored' });
    const unknown = { ...copy, no: 2 ** 40 };
    expect(await directory.current(unknown)).to.equal(unknown);
  });

  it('tells it in the order in which it is asked, in memory or not', async () => {
    const [one] = (await actors(['one'])) as [Person];
    const order: number[] = [];
    const ask = (turn: number) => directory.current(one).then(() => order.push(turn));
    const asked = [ask(1)];
    await nextTurn();
    asked.push(ask(2));
    directory.remember(one);
    asked.push(ask(3));
    await Promise.all(asked);
    expect(order).to.deep.equal([1, 2, 3]);
  });

  it('evicts the least recently used member', async () => {
    const actor = (no: number, nickname: string) => ({ no, nickname }) as Person;
    for (let no = 0; no <= HELD; no += 1) directory.remember(actor(-no, 'held'));
    expect(await directory.current(actor(0, 'own'))).to.include({ nickname: 'own' });
    expect(await directory.current(actor(-1, 'own'))).to.include({ nickname: 'held' });
  });

  it('finds by e-mail address in any case, including those who left', async () => {
    const [one] = (await actors(['one'])) as [Person];
    await leave(one);
    expect(await directory.findByEmail(one.email.toUpperCase())).to.deep.equal(one);
    expect(await directory.findByEmail('nobody@example.org')).to.equal(undefined);
  });

  it('counts its members, for a progress bar', async () => {
    const before = await directory.count();
    await actors(['one', 'another']);
    expect(await directory.count()).to.equal(before + 2);
  });

  it('lists all members except those who left', async () => {
    const [stays, leaves, stays2] = (await actors(['stays', 'leaves', 'stays too'])) as [
      Person,
      Person,
      Person,
    ];
    await leave(leaves);
    const emails = [stays, leaves, stays2].map(({ email }) => email);
    expect(await directory.findByEmails([...emails, 'nobody@example.org'])).to.deep.equal(
      new Map([stays, stays2].map((actor) => [actor.email, actor])),
    );
    const batches: number[][] = [];
    for await (const batch of directory.allNumbers(2)) batches.push(batch);
    const all = batches.flat();
    expect(all).to.deep.equal([...new Set(all)].sort((a, b) => a - b));
    expect(all).to.include.members([stays.no, stays2.no]).and.not.include(leaves.no);
    const full = batches.slice(0, -1);
    expect(full.map(({ length }) => length)).to.deep.equal(full.map(() => 2));
  });
});
