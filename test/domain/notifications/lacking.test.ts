import { expect } from 'chai';
import { noLive } from '../../../domain/kernel/live.js';
import { Deliverer } from '../../../domain/notifications/deliver.js';
import { MemoryDeliveryBus } from '../../../domain/notifications/delivery-bus.memory.js';

const MEMBER = 3;

describe('a notification of another process', () => {
  function build(hasSocket: boolean) {
    const bus = new MemoryDeliveryBus();
    const live = { ...noLive, isConnected: (memberNo: number) => hasSocket && memberNo === MEMBER };
    return { bus, deliverer: new Deliverer({ bus, live, isReported: true } as never) };
  }

  it('is lacking for a member with a socket here, until its push has come', () => {
    const { deliverer } = build(true);
    expect([deliverer.lacks(1, MEMBER), deliverer.lacks(1, 4)]).to.deep.equal([true, false]);
    deliverer.acceptPush(1);
    expect([deliverer.lacks(1, MEMBER), deliverer.lacks(2, MEMBER)]).to.deep.equal([false, true]);
  });

  it('is lacking for a member with a stream here, until its delivery has come', () => {
    const { bus, deliverer } = build(false);
    const { end } = bus.subscribe(MEMBER, () => {});
    expect([deliverer.lacks(1, MEMBER), deliverer.lacks(1, 4)]).to.deep.equal([true, false]);
    deliverer.noteStreamed(1);
    expect([deliverer.lacks(1, MEMBER), deliverer.lacks(2, MEMBER)]).to.deep.equal([false, true]);
    end();
    expect(deliverer.lacks(2, MEMBER)).to.equal(false);
  });
});
