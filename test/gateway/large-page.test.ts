import { expect } from 'chai';
import { openRoom } from '../support/chat.js';
import { connect } from '../support/sockets.js';

/** Messages of almost the maximum length, three bytes a character: 3 MB together. */
const MESSAGES = 200;
const LONG = '가'.repeat(4_990);

/** Unsent bytes at which a slow reader is closed. */
const MAX_BACKPRESSURE = 1024 * 1024;

interface Page {
  messages: { seq: number }[];
  more: boolean;
  seq: number;
}

describe('a join after many long messages', () => {
  it('answers in pages that a slow connection can receive', async () => {
    // Five hundred messages came in one acknowledgement of 7 MB, seven times the limit: a client slower than
    // the service was closed, reconnected, and was closed again.
    const { author, asker, chatNo } = await openRoom();
    const sender = await connect(asker);
    for (let i = 0; i < MESSAGES; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, k) => sender.send(chatNo, `${i + k} ${LONG}`)));
    }
    const reader = await connect(author);
    const seen: number[] = [];
    let page: Page;
    do {
      page = await reader.ask<Page>('room:join', { chatNo, after: seen.at(-1) ?? 0 });
      expect(Buffer.byteLength(JSON.stringify(page))).to.be.below(MAX_BACKPRESSURE / 2);
      expect(page.messages).to.not.be.empty;
      seen.push(...page.messages.map(({ seq }) => seq));
    } while (page.more);
    expect(seen).to.deep.equal(Array.from({ length: MESSAGES }, (_, i) => i + 1));

    const newest = await reader.join<Page>(chatNo);
    expect(Buffer.byteLength(JSON.stringify(newest))).to.be.below(MAX_BACKPRESSURE / 2);
    expect(newest.more).to.equal(true);
    expect(newest.messages.at(-1)?.seq, 'without `after`, the newest').to.equal(MESSAGES);
  });
});
