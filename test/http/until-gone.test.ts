import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { AppContext } from '../../http/context.js';
import { untilGone } from '../../http/until-gone.js';

describe('the signal that a client has gone', () => {
  const signalOf = (closed: boolean) => {
    const res = Object.assign(new EventEmitter(), { closed });
    return { res, signal: untilGone({ res } as unknown as AppContext) };
  };

  it('is given when its connection closes', () => {
    const { res, signal } = signalOf(false);
    expect(signal.aborted).to.equal(false);
    res.emit('close');
    expect(signal.aborted).to.equal(true);
  });

  it('is given at once if it went while its limits were asked', () => {
    expect(signalOf(true).signal.aborted).to.equal(true);
  });
});
