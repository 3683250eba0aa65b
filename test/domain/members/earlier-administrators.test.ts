import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Member } from '../../../domain/members/member.model.js';
import { textOf } from '../../documents/documents.js';
import { service } from '../../support/service.js';

/** The filter and the update of the command in docs/operations.md. */
function documented(): Record<string, unknown>[] {
  const [, args = ''] = /db\.members\.updateMany\((.*)\)'/.exec(textOf('docs/operations.md')) ?? [];
  return JSON.parse(`[${args.replace(/([$\w]+):/g, '"$1":')}]`);
}

describe('an administrator whose record is of an earlier version', () => {
  it('stays one until the documented command, and after it while a token says so', async () => {
    const { domain, token } = await service();
    const stored = async (email: string) => {
      await domain.members.record({ email, role: 'ADMIN', issuedAt: 1 });
      await Member.updateOne({ email }, { $unset: { granted: 1 } });
      return email;
    };
    const [past, current] = [
      await stored(`${randomUUID()}@example.org`),
      await stored(`${randomUUID()}@example.org`),
    ];
    const granted = await stored('granted@example.org');
    /** The member's role by a token of its own: an accepted one is trusted for some seconds. */
    const roleOf = async (email: string, claims: object) =>
      (await domain.members.authenticate(await token(email, { nickname: randomUUID(), ...claims }))).actor
        .role;
    expect(await roleOf(past, {})).to.equal('ADMIN');
    expect(await roleOf(current, { role: 'ADMIN' })).to.equal('ADMIN');
    const [filter = {}, update = {}] = documented();
    await Member.collection.updateMany(filter, update);
    expect(await roleOf(past, {})).to.equal('USER');
    expect(await roleOf(granted, {})).to.equal('ADMIN');
    expect(await roleOf(current, { role: 'ADMIN' })).to.equal('ADMIN');
    expect(await roleOf(current, {})).to.equal('USER');
  });

  it('is none any more by what the newest token claimed then', async () => {
    const { domain, token } = await service();
    const email = `${randomUUID()}@example.org`;
    await domain.members.record({ email, issuedAt: 1 });
    await Member.collection.updateOne({ email }, { $set: { claimedRole: 'ADMIN' } });
    const by = async (claims: object) =>
      (await domain.members.authenticate(await token(email, { nickname: randomUUID(), ...claims }))).actor
        .role;
    expect([await by({ role: 'ADMIN' }), await by({})]).to.deep.equal(['ADMIN', 'USER']);
  });
});
