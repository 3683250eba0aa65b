import { expect } from 'chai';
import { MessageSeal, RejectedMessage } from '../../../../domain/platform/redis/sealed-messages.js';
import { SIGNING_KEY } from '../../../support/redis.js';

describe('messages between processes', () => {
  const one = new MessageSeal('process-one-', SIGNING_KEY);
  const two = new MessageSeal('process-two-', SIGNING_KEY);
  const text = 'Schöne Grüße 🐕';

  const opened = (by: MessageSeal, sealed: string | Buffer, channel = 'room') =>
    by.open(channel, Buffer.from(sealed));

  it('are opened by another process, and not by the one that sent them', () => {
    const sealed = one.seal('room', text);
    expect(opened(two, sealed)).equal(text);
    expect(opened(one, sealed)).equal(undefined);
    expect([one.isSigned, new MessageSeal('process-one-', undefined).isSigned]).deep.equal([true, false]);
  });

  it('need no signature without a key', () => {
    const [here, there] = [
      new MessageSeal('process-one-', undefined),
      new MessageSeal('process-two-', undefined),
    ];
    const sealed = here.seal('room', text);
    expect(opened(there, sealed)).equal(text);
    expect(opened(here, sealed)).equal(undefined);
    expect(opened(there, 'short')).equal('');
  });

  it('are rejected unless they are signed with the key, for that channel, as they are', () => {
    const sealed = one.seal('room', text);
    const forged = [
      ...['', 'x', text, 'x'.repeat(22), `process-one-${text}`, sealed.slice(0, -1), `${sealed}x`],
      `${sealed.slice(0, 22)}process-six-${text}`,
      new MessageSeal('process-one-', undefined).seal('room', text),
      new MessageSeal('process-one-', `${SIGNING_KEY}x`).seal('room', text),
      one.seal('another', text),
    ];
    for (const bytes of forged) {
      expect(() => opened(two, bytes), bytes)
        .throw(RejectedMessage)
        .property('reason', 'unsigned');
    }
  });
});
