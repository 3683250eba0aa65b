import { expect } from 'chai';
import mongoose from 'mongoose';
import type { Check, Finding } from '../../../../domain/kernel/verification.js';
import { checkMembers } from '../../../../domain/members/index.js';
import {
  checkSequence,
  nextNumbers,
  reserveNumbers,
  type SequenceName,
} from '../../../../domain/platform/mongo/sequence.model.js';
import { service } from '../../../support/service.js';

let count = 0;

/** A sequence that nobody else counts in. */
function ownSequence(): SequenceName {
  count += 1;
  return `of test ${count}` as SequenceName;
}

async function faultsOf(check: Check): Promise<Finding[]> {
  const faults: Finding[] = [];
  let looked = 0;
  for await (const fault of check.run((number) => {
    looked += number;
  }))
    faults.push(fault);
  expect(looked).to.equal(await check.size());
  return faults;
}

describe('numbers of records', () => {
  before(service);

  it('rise from one, and none is given twice', async () => {
    const name = ownSequence();
    expect(await nextNumbers(name)).to.equal(1);
    const counts = [1, 5, 2, 1, 3];
    const firsts = await Promise.all(counts.map((many) => nextNumbers(name, many)));
    const given = firsts.flatMap((first, i) =>
      Array.from({ length: counts[i] as number }, (_, k) => first + k),
    );
    expect(given.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 12 }, (_, i) => i + 2));
  });

  it('continue after a number from outside, and never fall', async () => {
    const name = ownSequence();
    await reserveNumbers(name, [10]);
    expect(await nextNumbers(name)).to.equal(11);
    await reserveNumbers(name, [5]);
    expect(await nextNumbers(name)).to.equal(12);
  });

  it('are reported if the sequence is behind, until repaired', async () => {
    const [behind, fresh] = [ownSequence(), ownSequence()];
    await reserveNumbers(behind, [9]);
    for (const [name, value] of [
      [behind, 9],
      [fresh, 0],
    ] as const) {
      const check = checkSequence('members', name, async () => 10);
      const [fault] = await faultsOf(check);
      expect(fault?.text).to.equal(`sequence ${name}: stands at ${value}, but number 10 is in use`);
      await fault?.repair?.();
      expect(await faultsOf(check)).to.deep.equal([]);
      expect(await nextNumbers(name)).to.equal(11);
    }
    expect(await faultsOf(checkSequence('members', ownSequence(), async () => 0))).to.deep.equal([]);
  });

  it('taken during the check are not reported', async () => {
    const name = ownSequence();
    expect(await faultsOf(checkSequence('members', name, () => nextNumbers(name)))).to.deep.equal([]);
  });

  it('of members are checked against the highest one', async () => {
    const { domain } = await service();
    const record = (email: string) => domain.members.record({ email, issuedAt: 0 });
    await record('first@example.org');
    const { no } = await record('last@example.org');
    const [check] = checkMembers();
    expect(await faultsOf(check as Check)).to.deep.equal([]);
    await record('another@example.org');
    // As a restore of an older collection leaves it.
    const sequences = mongoose.connection.collection<{ _id: string; value: number }>('sequences');
    await sequences.updateOne({ _id: 'member' }, { $set: { value: no } });
    const [fault] = await faultsOf(check as Check);
    expect(fault?.text).to.equal(`sequence member: stands at ${no}, but number ${no + 1} is in use`);
    await fault?.repair?.();
    expect((await record('next@example.org')).no).to.equal(no + 2);
  });
});
