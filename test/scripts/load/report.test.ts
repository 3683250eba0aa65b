import { expect } from 'chai';
import type { Result, Scenario } from '../../../scripts/load/scenario.js';
import { summarise } from '../../../scripts/load/statistics.js';
import { notesOf, table, verdictLines } from '../../../scripts/load/table.js';
import { atLeast, atMost, medianOf, ratio } from '../../../scripts/load/verdict.js';

const scenario: Scenario = {
  name: 'fanout',
  title: 'One room',
  columns: ['cpu', 'delivered', 'refused', 'lost', 'p50', 'p99', 'p999', 'memory'],
  heeds: [],
  contenders: () => [],
  verdicts: () => [],
};

const latencies = { p50: summarise([1]), p99: summarise([5]), p999: summarise([40]) };
const results: Result[] = [
  {
    name: 'this service',
    role: 'ours',
    part: '10 sockets',
    figures: {
      cpu: summarise([2, 3, 4]),
      delivered: summarise([100, 100, 100]),
      lost: summarise([0, 0, 0]),
      ...latencies,
    },
    ...{ turns: 3, voided: ['busy', 'late'] },
    stages: [{ stage: 'insert', messages: 10, share: 80, mean: 1.5, p50: 1, p99: 4.25, buckets: [[5, 10]] }],
  },
  {
    name: 'bare <loop>',
    role: 'limit',
    part: '10 sockets',
    figures: { cpu: summarise([1.5]) },
    ...{ turns: 1, voided: ['busy'], void: 'busy' },
  },
  { name: 'nchan', role: 'peer', part: '10 sockets', missing: 'not installed', figures: {} },
];
const verdicts = [
  atMost('cheap', ratio(3, 1.5), 1.4),
  atLeast('fast', medianOf(results, 'nchan', 'cpu', '10 sockets'), 4),
];
/** Without the terminal's colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches the escape sequence
const plain = (text: string) => text.replace(/\u001B\[\d+m/g, '');

describe('load tests: tables', () => {
  it('show medians with their spread and as multiples of the limit', () => {
    const text = plain(table(scenario, results));
    expect(text).to.match(/this service\s+ours\s+2\.00×\s+3\.00 ±33%\s+100\s+0/);
    expect(text).to.match(/nchan\s+peer\s+missing/);
    expect(text).to.match(
      /this service, 10 sockets: stages of a message, ms\n.*p99\ninsert\s+80%\s+1\.500\s+1\.000\s+4\.250/,
    );
  });

  it('have a column of what was refused only if anything was', () => {
    const of = (refused: number) =>
      plain(table(scenario, [{ name: 'a', role: 'ours', figures: { refused: summarise([0, refused]) } }]));
    expect(of(0)).to.not.include('refused');
    expect(of(1)).to.include('refused');
  });

  it('name missing contenders and void turns', () => {
    expect(notesOf(results)).to.deep.equal([
      'nchan (10 sockets): not installed',
      'this service (10 sockets): 2 of 3 turns void: busy; late',
      'bare <loop> (10 sockets): 1 of 1 turns void: busy',
    ]);
  });

  it('say why something was not judged', () => {
    expect(verdictLines(verdicts).map(plain)).to.deep.equal([
      'misses      cheap: 2.00 (bound 1.4)',
      'not judged  fast: nchan, 10 sockets: not installed (bound 4)',
    ]);
  });
});
