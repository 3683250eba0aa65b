import { expect } from 'chai';
import { lostPushes } from '../../../../domain/platform/observe/lost-pushes.js';
import { metrics } from '../../../../domain/platform/observe/metrics.js';
import { eventually } from '../../../support/eventually.js';

async function lost(what: string): Promise<number> {
  const { values } = await metrics.lostPushes.get();
  return values.find(({ labels }) => labels.what === what)?.value ?? 0;
}

describe('a push without which something was given to clients', () => {
  it('is lost if it does not come within seconds, unless nobody is there any more, a newer one came, or none is shown', async () => {
    const before = await lost('room');
    for (const room of [1, 2, 3, 4, 5]) lostPushes.mended('room', `member:${room}`, 7, { seq: 5, read: 2 });
    lostPushes.came('room', 'member:1', 7, { seq: 5, read: 2 });
    lostPushes.came('room', 'member:2', 7, { seq: 4, read: 4 });
    lostPushes.came('room', 'member:3', 7, { seq: 6, read: 3 });
    lostPushes.forget('member:4');
    // Where pushes are not shown.
    lostPushes.count(false);
    lostPushes.mended('room', 'member:6', 7, { seq: 5, read: 2 });
    lostPushes.count(true);
    // Of two processes, each of which does not know what the other one wrote.
    lostPushes.came('room', 'member:5', 7, { seq: 5, read: 1 });
    lostPushes.came('room', 'member:5', 7, { seq: 4, read: 2 });
    await eventually(async () => expect(await lost('room')).to.equal(before + 1), 20_000);
  });
});
