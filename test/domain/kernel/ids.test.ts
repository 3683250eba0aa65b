import { expect } from 'chai';
import { validate, version } from 'uuid';
import { newMessageId } from '../../../domain/kernel/ids.js';

describe('message ids', () => {
  it('are UUIDs of version 7 in the order of time, and nobody can guess one from others', () => {
    const before = Date.now();
    // More than bytes are drawn for at once.
    const ids = Array.from({ length: 1_000 }, newMessageId);
    for (const id of ids) expect([validate(id), version(id)]).to.deep.equal([true, 7]);
    const times = ids.map((id) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
    expect(times).to.deep.equal([...times].sort((a, b) => a - b));
    expect(times[0]).to.be.at.least(before);
    expect(times.at(-1)).to.be.at.most(Date.now());
    // The last 62 bits are random alone; in halves, no two of which are to be alike but by chance.
    const tails = ids.map((id) => id.replaceAll('-', '').slice(17));
    expect(new Set(tails).size).to.equal(ids.length);
    for (const half of [tails.map((tail) => tail.slice(0, 7)), tails.map((tail) => tail.slice(-7))]) {
      expect(new Set(half).size).to.be.above(990);
    }
  });
});
