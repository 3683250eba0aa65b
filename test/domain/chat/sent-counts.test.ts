import { expect } from 'chai';
import type { Side } from '../../../domain/chat/room.model.js';
import { SentCounts } from '../../../domain/chat/sent-counts.js';
import { collectGarbage } from '../../support/memory.js';
import { createRandom } from '../../support/random.js';

describe('counts of a room’s sent messages', () => {
  it('are right up to every number, with gaps, and senders who take no part', () => {
    const { below, pick } = createRandom('SENT_COUNTS_SEED');
    const counts = new SentCounts();
    expect([counts.all, counts.newest, counts.countUpTo(5)]).to.deep.equal([
      { count: 0, creator: 0, joiner: 0 },
      0,
      0,
    ]);
    const sent: { seq: number; sender: Side | undefined }[] = [];
    for (let seq = 1 + below(3); sent.length < 700; seq += below(10) === 0 ? 1 + below(4) : 1) {
      const sender = pick(['creator', 'joiner', undefined] as const);
      sent.push({ seq, sender });
      counts.add(seq, sender);
    }
    const newest = sent.at(-1)?.seq as number;
    expect(counts.newest).to.equal(newest);
    for (let seq = -1; seq <= newest + 1; seq += 1) {
      const upTo = sent.filter((one) => one.seq <= seq);
      const by = (side: Side) => upTo.filter(({ sender }) => sender === side).length;
      const expected = { count: upTo.length, creator: by('creator'), joiner: by('joiner') };
      expect(counts.first(counts.countUpTo(seq)), `up to ${seq}`).to.deep.equal(expected);
    }
  });

  it('take at most two bytes per message', () => {
    const taken = () => {
      collectGarbage();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const before = taken();
    const counts = new SentCounts();
    const messages = 1_000_000;
    for (let seq = 1; seq <= messages; seq += 1) counts.add(seq, seq % 3 ? 'creator' : 'joiner');
    expect((taken() - before) / messages).to.be.below(2);
    expect(counts.all).to.deep.equal({ count: messages, creator: 666_667, joiner: 333_333 });
  });
});
