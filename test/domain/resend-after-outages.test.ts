import { expect } from 'chai';
import { resendAfterOutages } from '../../domain/resend-after-outages.js';
import { gate, nextTurn } from '../support/eventually.js';
import { inStoppedTime } from '../support/time.js';

type Listener = () => unknown;

/** A connection that only tells of outages, and what was sent again. */
function build() {
  const listeners = new Map<string, Listener>();
  const redis = {
    on(event: string, listener: Listener) {
      listeners.set(event, listener);
      return () => void listeners.delete(event);
    },
  };
  const resends: { since: number; isOver(): boolean }[] = [];
  let held = Promise.resolve();
  const stop = resendAfterOutages(redis as never, (since, isOver) => {
    resends.push({ since, isOver });
    return held;
  });
  return {
    ...{ resends, stop },
    hold() {
      const { opened, open } = gate();
      held = opened;
      return open;
    },
    async tell(event: 'down' | 'up') {
      listeners.get(event)?.();
      await nextTurn();
    },
  };
}

describe('what is sent again after outages of Redis', () => {
  it('begins five seconds before an outage that follows no other', () =>
    inStoppedTime(async (advance) => {
      const { resends, tell } = build();
      for (let outage = 0; outage < 2; outage += 1) {
        advance(20_000);
        await tell('down');
        const began = performance.now();
        advance(3_000);
        await tell('up');
        expect(resends[outage]?.since).to.equal(began - 5_000);
      }
    }));

  it('begins where it began before, if that was sent within the five seconds before an outage', () =>
    inStoppedTime(async (advance) => {
      const { resends, tell } = build();
      for (const pause of [20_000, 4_000, 5_000]) {
        advance(pause);
        await tell('down');
        await tell('up');
      }
      const [{ since } = { since: Number.NaN }] = resends;
      expect(resends.map((one) => one.since)).to.deep.equal([since, since, since]);
    }));

  it('ends with the next outage, and begins again, however long that took', () =>
    inStoppedTime(async (advance) => {
      const { resends, tell, hold } = build();
      advance(20_000);
      await tell('down');
      const open = hold();
      await tell('up');
      expect(resends[0]?.isOver()).to.equal(false);
      advance(60_000);
      await tell('down');
      expect(resends[0]?.isOver()).to.equal(true);
      const openNext = hold();
      await tell('up');
      open();
      await nextTurn();
      advance(60_000);
      await tell('down');
      await tell('up');
      openNext();
      expect(resends.map((one) => one.since - (resends[0]?.since ?? 0))).to.deep.equal([0, 0, 0]);
    }));

  it('is everything, if Redis was away from the beginning', () =>
    inStoppedTime(async () => {
      const { resends, tell, stop } = build();
      await tell('up');
      expect(resends[0]?.since).to.equal(Number.NEGATIVE_INFINITY);
      stop();
      await tell('up');
      expect(resends).to.have.length(1);
    }));
});
