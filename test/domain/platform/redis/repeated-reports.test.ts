import { expect } from 'chai';
import { useReportingProcesses } from './reporting-processes.js';

describe('reports of what processes write', () => {
  const all = useReportingProcesses();
  const { start, pass, startBoth } = all;

  it('that are repeated do nothing, neither does one of a process that has said goodbye', async () => {
    const { one, two } = await startBoth();
    const texts: string[] = [];
    const recorder = { name: 'recorder', hear: (_channel: string, text: string) => texts.push(text) };
    all.network.listeners.add(recorder);
    await pass(1, one.reports, ['one', 'two']);
    const repeat = () => {
      for (const { name, hear } of all.network.listeners)
        if (name === 'two')
          for (const text of texts.filter((each) => each.includes('"from":"one"')))
            hear('adoption:reports', text);
    };
    const { length } = two.heard;
    repeat();
    expect(two.heard).to.have.length(length);
    one.reports.close();
    expect(two.heard.at(-1)).to.include({ from: 'one', isLast: true });
    repeat();
    expect(two.heard).to.have.length(length + 1);
  });

  /** Records what a process reports. @returns a function that repeats the next of it to another process */
  function record(from: string, to: string) {
    const texts: string[] = [];
    const recorder = {
      name: 'recorder',
      hear: (_channel: string, text: string) => text.includes(`"from":"${from}"`) && texts.push(text),
    };
    all.network.listeners.add(recorder);
    const repeat = () => {
      const text = texts.shift() as string;
      for (const { name, hear } of all.network.listeners) if (name === to) hear('adoption:reports', text);
    };
    return { texts, repeat };
  }

  it('that are repeated after a deploy do nothing: a process that is cut off is noticed', async () => {
    const old = start('old');
    const { repeat } = record('old', 'two');
    await pass(20, old.reports, ['old']);
    old.reports.close();
    await pass(120);
    const [one, two] = [start('one'), start('two')];
    start('three');
    all.network.cut.add('three');
    for (let i = 0; i < 15; i += 1) {
      await pass(1, one.reports, ['one', 'two', 'three']);
      // The old roll is without the third.
      repeat();
    }
    expect(two.heard.filter(({ from }) => from === 'old')).to.deep.equal([]);
    expect(two.isComplete(performance.now() - 5_000)).to.equal(false);
  });

  it('that are repeated to a process that has just started are heard if they are ten seconds old at most', async () => {
    const one = start('one');
    start('three');
    const { texts, repeat } = record('three', 'two');
    await pass(60, one.reports, ['one', 'three']);
    all.network.cut.add('three');
    texts.splice(0, texts.length - 20);
    const two = start('two');
    const isHeard: boolean[] = [];
    // The oldest is nineteen seconds old.
    while (texts.length > 0) {
      two.heard.length = 0;
      repeat();
      isHeard.push(two.heard.length > 0);
    }
    expect(isHeard).to.deep.equal([...Array(9).fill(false), ...Array(11).fill(true)]);
    const since = performance.now() + 1;
    await pass(4, one.reports, ['one', 'two', 'three']);
    expect(two.isComplete(since)).to.equal(false);
  });

  it('are neither heard nor believed by others while a process does not know the time', async () => {
    const one = start('one');
    all.setDatabaseTime(() => undefined);
    const two = start('two');
    await pass(1);
    expect([one.heard, two.heard]).to.deep.equal([[], []]);
    all.setDatabaseTime(() => performance.now());
    await pass(1);
    expect([one.heard, two.heard].map(({ length }) => length)).to.deep.equal([1, 1]);
  });
});
