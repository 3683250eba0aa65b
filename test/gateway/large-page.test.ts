import { expect } from 'chai';
import { openRoom } from '../support/chat.js';
import { connect } from '../support/sockets.js';

/** The longest messages there are, three bytes a character: 3 MB together. */
const MESSAGES = 200;
const LONG = '가'.repeat(4_990);

/** What a slow reader may lag before it is closed, in bytes. */
const MAX_BACKPRESSURE = 1024 * 1024;

interface Page {
  messages: { seq: number }[];
  more: boolean;
  seq: number;
}

describe('catching up on many long messages', () => {
  it('comes in pages that a slow line can take', async () => {
    // Five hundred of them came in one acknowledgement of 7 MB: seven times what a reader may lag, so a
    // client whose line was not faster than the service was closed, came back, and was closed again.
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
    expect(newest.messages.at(-1)?.seq, 'the newest, without a number to go on from').to.equal(MESSAGES);
  });
});
