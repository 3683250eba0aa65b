import { expect } from 'chai';
import { useReportingProcesses } from './reporting-processes.js';

describe('reports of what processes write', () => {
  const all = useReportingProcesses();
  const { start, pass, startBoth } = all;

  it('tell the others every second what was written since, each once', async () => {
    const [one, two] = [start('one'), start('two')];
    const head = { chatNo: 7, seq: 3, reads: [{ memberNo: 1, seq: 2, others: 1 }] };
    one.written.rooms.push(head);
    one.written.unsure.push(9);
    one.written.notifications.push([4, 1]);
    two.heard.length = 0;
    await all.time.pass(1_000);
    await all.time.pass(1_000);
    expect(
      two.heard.map(({ from, number, rooms, unsure, notifications }) => [
        from,
        number,
        rooms,
        unsure,
        notifications,
      ]),
    ).to.deep.equal([
      ['one', 2, [head], [9], [[4, 1]]],
      ['one', 3, [], [], []],
    ]);
    expect([two.reports.wasPublished(4), two.reports.wasPublished(5)]).to.deep.equal([true, false]);
    const [first, second, third] = one.asked as [number, number, number];
    expect([first, third - second], 'from the beginning').to.deep.equal([0, 1_000]);
  });

  it('tell their own process of which rooms it does not know the numbers, and of nothing else', async () => {
    const [one, two] = [start('one'), start('two')];
    two.heard.length = 0;
    one.written.rooms.push({ chatNo: 7, seq: 3, reads: [] });
    one.written.unsure.push(9);
    one.written.notifications.push([4, 1]);
    await all.time.pass(2_000);
    const own = one.heard.filter(({ from }) => from === 'one');
    expect(own.map(({ rooms, unsure, notifications }) => [rooms, unsure, notifications])).to.deep.equal([
      [[], [9], []],
    ]);
    expect(two.heard.map(({ unsure }) => unsure)).to.deep.equal([[9], []]);
  });

  it('split what does not fit into one message', async () => {
    const [one, two] = [start('one'), start('two')];
    two.heard.length = 0;
    one.written.unsure.push(...Array.from({ length: 2_001 }, (_, i) => i));
    await all.time.pass(1_000);
    expect(two.heard.map(({ number, unsure }) => [number, unsure.length])).to.deep.equal([
      [2, 2_000],
      [3, 1],
    ]);
  });

  it('are relied on once all who run by the roll are heard', async () => {
    const [one, two] = [start('one'), start('two')];
    await pass(5);
    expect([one.isComplete(), two.isComplete(), two.reports.hasRoll], 'nobody calls it').to.deep.equal([
      false,
      false,
      false,
    ]);
    const since = performance.now() + 1;
    await pass(3, one.reports, ['one', 'two', 'three']);
    expect([one.isComplete(since), two.isComplete(since)], 'one is missing').to.deep.equal([false, false]);
    start('three');
    const now = performance.now() + 1;
    await pass(3, one.reports, ['one', 'two', 'three']);
    expect([one.isComplete(now), two.isComplete(now), two.reports.hasRoll]).to.deep.equal([true, true, true]);
    expect(two.heard.at(-1)).to.include({ from: 'three' });
    expect(two.heard.findLast(({ from }) => from === 'one')).to.deep.include({
      ...{ roll: ['one', 'two', 'three'], polledUpTo: 5, unpublished: [[7, 8]] },
    });
  });

  it('are not relied on while a process is silent, until it does not run any more', async () => {
    const { one, two, since } = await startBoth();
    expect([one.isComplete(since), two.isComplete(since)]).to.deep.equal([true, true]);
    all.network.cut.add('two');
    await pass(3, one.reports, ['one', 'two']);
    expect(one.isComplete(since), 'for three seconds').to.equal(true);
    await pass(1, one.reports, ['one', 'two']);
    expect(one.isComplete(since)).to.equal(false);
    const later = performance.now() + 1;
    await pass(60, one.reports, ['one', 'two']);
    expect(one.isComplete(later), 'it runs, and may write').to.equal(false);
    await pass(1, one.reports, ['one']);
    const now = performance.now() + 1;
    await pass(1, one.reports, ['one']);
    expect([one.isComplete(later), one.isComplete(now)]).to.deep.equal([false, true]);
    expect(two.isComplete(now), 'it hears nobody').to.equal(false);
  });

  it('are not relied on for the time of a lost one, nor of a lost connection', async () => {
    const { one, two, since } = await startBoth();
    all.network.cut.add('one');
    await pass(1, one.reports, ['one', 'two']);
    all.network.cut.clear();
    expect(two.isComplete(since), 'not noticed yet').to.equal(true);
    await pass(1, one.reports, ['one', 'two']);
    const afterLoss = performance.now() + 1;
    await pass(1, one.reports, ['one', 'two']);
    expect([two.isComplete(since), two.isComplete(afterLoss)]).to.deep.equal([false, true]);
    for (const event of ['down', 'up']) {
      two.events.emit(event);
      expect(two.isComplete(afterLoss), event).to.equal(false);
    }
  });

  it('of a process whose first ones were not heard are not relied on for the time before', async () => {
    const { one, two, since } = await startBoth();
    all.network.cut.add('three');
    start('three');
    await pass(2, one.reports, ['one', 'two']);
    all.network.cut.clear();
    expect(two.isComplete(since)).to.equal(true);
    await pass(1, one.reports, ['one', 'two', 'three']);
    expect(two.isComplete(since)).to.equal(false);
  });

  it('are relied on at once without a process that has said goodbye, also if it is still on the roll', async () => {
    const { one, two, since } = await startBoth();
    two.reports.close();
    await pass(10, one.reports, ['one', 'two']);
    expect(one.isComplete(since)).to.equal(true);
    expect(all.network.listeners.size, 'and it listens no more').to.equal(1);
  });

  it('are not relied on after a process left without publishing everything, until it is off the roll', async () => {
    const { one, two, since } = await startBoth();
    two.written.unsure.push(9);
    two.reports.close(false);
    expect(one.heard.at(-1), 'what it knows').to.deep.include({ unsure: [9], isLast: false });
    await pass(4, one.reports, ['one', 'two']);
    expect(one.isComplete(since)).to.equal(false);
    const later = performance.now() + 1;
    await pass(60, one.reports, ['one', 'two']);
    expect(one.isComplete(later)).to.equal(false);
    await pass(2, one.reports, ['one']);
    const now = performance.now();
    await pass(1, one.reports, ['one']);
    expect(one.isComplete(now)).to.equal(true);
  });

  it('are not relied on when the process on duty leaves it, or cannot call the roll', async () => {
    const { one, two, since } = await startBoth();
    one.reports.endDuty();
    expect([one.isComplete(since), one.reports.isOnDuty]).to.deep.equal([false, false]);
    await pass(3);
    expect([two.reports.hasRoll, two.isComplete(since)], 'for three seconds').to.deep.equal([true, true]);
    await pass(1);
    expect([two.reports.hasRoll, two.isComplete(since)]).to.deep.equal([false, false]);
    two.reports.callRoll(['one', 'two']);
    await pass(5);
    expect(two.reports.hasRoll, 'its own, which it could not read again for five seconds').to.equal(true);
    await pass(1);
    expect(two.reports.hasRoll).to.equal(false);
  });
});
