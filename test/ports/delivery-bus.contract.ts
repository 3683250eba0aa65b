import { expect } from 'chai';
import type { Delivery, DeliveryBus } from '../../domain/notifications/delivery-bus.js';

export function delivery(memberNo: number, n: number): Delivery {
  return {
    memberNo,
    n,
    publishedAt: 1_769_862_896_000,
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

/** The guarantees of every implementation of the delivery bus. */
export function deliveryBusContract(name: string, open: () => DeliveryBus): void {
  let memberNo = 1_000 + Math.floor(Math.random() * 1_000_000_000);

  describe(`delivery bus: ${name}`, () => {
    let bus: DeliveryBus;
    let received: Delivery[];
    const listen = (d: Delivery) => received.push(d);
    beforeEach(() => {
      memberNo += 10;
      received = [];
      bus = open();
    });
    afterEach(() => bus.close());

    it('calls the listeners of a member at once, in order, once each', async () => {
      const subscription = bus.subscribe(memberNo, listen);
      for (let n = 1; n <= 50; n += 1) bus.publish(delivery(memberNo, n));
      const expected = Array.from({ length: 50 }, (_, i) => delivery(memberNo, i + 1));
      expect(received).deep.equal(expected);
      await subscription.ready;
      bus.publish(delivery(memberNo, 51));
      // A second copy through Redis would arrive before the confirmation of a later subscription.
      await bus.subscribe(memberNo + 1, () => {}).ready;
      expect(received).lengthOf(51);
    });

    it('calls every listener of the member, and nobody else', () => {
      const others: Delivery[] = [];
      bus.subscribe(memberNo, listen);
      bus.subscribe(memberNo, listen.bind(undefined));
      bus.subscribe(memberNo + 1, (d) => others.push(d));
      bus.publish(delivery(memberNo, 1));
      expect(received).lengthOf(2);
      expect(others).lengthOf(0);
    });

    it('delivers within one process when asked to', () => {
      bus.subscribe(memberNo, listen);
      bus.publishHere(delivery(memberNo, 1));
      expect(received).deep.equal([delivery(memberNo, 1)]);
    });

    it('ends with the subscription, and only that one', async () => {
      const first = bus.subscribe(memberNo, listen);
      const second = bus.subscribe(memberNo, listen.bind(undefined));
      await first.ready;
      first.end();
      first.end();
      bus.publish(delivery(memberNo, 1));
      expect(received).lengthOf(1);
      second.end();
      bus.publish(delivery(memberNo, 2));
      expect(received).lengthOf(1);
    });

    it('delivers to a member who returns, although the old subscription is ended twice', async () => {
      const before = bus.subscribe(memberNo, listen);
      before.end();
      await bus.subscribe(memberNo, listen.bind(undefined)).ready;
      before.end();
      bus.publish(delivery(memberNo, 1));
      expect(received).lengthOf(1);
    });

    it('delivers nothing after close', async () => {
      await bus.subscribe(memberNo, listen).ready;
      bus.close();
      bus.publish(delivery(memberNo, 1));
      expect(received).lengthOf(0);
    });
  });
}
