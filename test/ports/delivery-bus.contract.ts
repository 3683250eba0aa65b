import { expect } from 'chai';
import type { Delivery, DeliveryBus } from '../../domain/notifications/delivery-bus.js';

/** A delivery as it leaves the notifier. */
export function delivery(memberNo: number, n: number): Delivery {
  return {
    memberNo,
    n,
    view: {
      id: n + 100,
      type: 'comment',
      content: 'a comment — 댓글 🐶',
      url: 'board/1',
      publishedAt: [2026, 1, 31, 12, 34, 56],
      name: 'Bori',
      checked: false,
      del: false,
    },
  };
}

/** What every implementation of the wake-ups port owes its callers. */
export function wakeUpsContract(name: string, open: () => DeliveryBus): void {
  let memberNo = 1_000 + Math.floor(Math.random() * 1_000_000_000);

  describe(`wake-ups: ${name}`, () => {
    let wakeUps: DeliveryBus;
    let heard: Delivery[];
    const listen = (d: Delivery) => heard.push(d);
    beforeEach(() => {
      memberNo += 10;
      heard = [];
      wakeUps = open();
    });
    afterEach(() => wakeUps.close());

    it('tell the listeners of a member at once, in order, each one once', async () => {
      const subscription = wakeUps.subscribe(memberNo, listen);
      for (let n = 1; n <= 50; n += 1) wakeUps.publish(delivery(memberNo, n));
      const expected = Array.from({ length: 50 }, (_, i) => delivery(memberNo, i + 1));
      expect(heard).deep.equal(expected);
      await subscription.ready;
      wakeUps.publish(delivery(memberNo, 51));
      // Were it told a second time on a way around, the answer to a later request would come after it.
      await wakeUps.subscribe(memberNo + 1, () => {}).ready;
      expect(heard).lengthOf(51);
    });

    it('tell every listener of the member, and nobody else', () => {
      const others: Delivery[] = [];
      wakeUps.subscribe(memberNo, listen);
      wakeUps.subscribe(memberNo, listen.bind(undefined));
      wakeUps.subscribe(memberNo + 1, (d) => others.push(d));
      wakeUps.publish(delivery(memberNo, 1));
      expect(heard).lengthOf(2);
      expect(others).lengthOf(0);
    });

    it('tell one process alone when asked to', () => {
      wakeUps.subscribe(memberNo, listen);
      wakeUps.publishHere(delivery(memberNo, 1));
      expect(heard).deep.equal([delivery(memberNo, 1)]);
    });

    it('end with the subscription, and only it', async () => {
      const first = wakeUps.subscribe(memberNo, listen);
      const second = wakeUps.subscribe(memberNo, listen.bind(undefined));
      await first.ready;
      first.end();
      first.end();
      wakeUps.publish(delivery(memberNo, 1));
      expect(heard).lengthOf(1);
      second.end();
      wakeUps.publish(delivery(memberNo, 2));
      expect(heard).lengthOf(1);
    });

    it('are there for a member who comes back, whatever is ended twice', async () => {
      const before = wakeUps.subscribe(memberNo, listen);
      before.end();
      await wakeUps.subscribe(memberNo, listen.bind(undefined)).ready;
      before.end();
      wakeUps.publish(delivery(memberNo, 1));
      expect(heard).lengthOf(1);
    });

    it('are over when all are closed', async () => {
      await wakeUps.subscribe(memberNo, listen).ready;
      wakeUps.close();
      wakeUps.publish(delivery(memberNo, 1));
      expect(heard).lengthOf(0);
    });
  });
}
