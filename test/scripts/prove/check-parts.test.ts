import { expect } from 'chai';
import { describeVerdict, judge } from '../../../scripts/prove/check/judge.js';
import { exportElle } from '../../../scripts/prove/export-elle.js';
import type { HistoryLine } from '../../../scripts/prove/history.js';
import { drawPicture } from '../../../scripts/prove/picture/draw.js';
import { createRandom } from '../../support/random.js';
import { modelHistory } from './model-history.js';

async function* lines(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

const textOf = (history: HistoryLine[]) => lines(...history.map((line) => JSON.stringify(line)));

const random = createRandom('PROVE_SEED');
const history = modelHistory(random.below(2 ** 31), 150);
const header = history[0] as HistoryLine;

/** What judging these lines fails with. */
async function failureOf(...texts: string[]): Promise<string> {
  try {
    await judge(lines(...texts));
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a history of npm run prove', () => {
  it('is refused with the number of the line that is none, and its field', async () => {
    const first = JSON.stringify(header);
    expect(await failureOf(first, '', 'nonsense')).to.match(/^line 3: Unexpected token/);
    expect(await failureOf(first, '{"e":"phase","t":1,"phase":"lunch"}')).to.match(/^line 2: phase: /);
    expect(await failureOf('{"e":"phase","t":1,"phase":"quiet"}')).to.equal(
      'line 1: the history must begin with its header',
    );
    expect(await failureOf(first, '{"e":"info","t":1,"op":7,"reason":"time-out"}')).to.equal(
      'line 2: operation 7 was not asked for, or has ended before',
    );
    expect(await failureOf()).to.equal('the history is empty');
    expect(await failureOf(JSON.stringify({ ...header, format: 2 }))).to.match(/^line 1: format: /);
  });

  it('that ends early is unknown, not proven, and says what was never tried', async () => {
    const verdict = await judge(lines(JSON.stringify(header)));
    expect(verdict.outcome).to.equal('unknown');
    expect(verdict.missing[0]).to.match(/^the history ends before its run/);
    expect(describeVerdict(verdict)).to.include(
      'unknown: never reached: rooms read whole at the end by both',
    );
  });

  it('without traffic during a fault is unknown', async () => {
    const fault = (phase: 'begin' | 'end', t: number): HistoryLine => ({
      e: 'fault',
      fault: 'kill',
      target: 'gateway-0',
      phase,
      t,
    });
    const end = (history.at(-1) as HistoryLine).t;
    const verdict = await judge(textOf([...history, fault('begin', end + 1), fault('end', end + 2)]));
    expect(verdict.missing).to.include('the fault kill did not meet any traffic');
    expect(verdict.outcome).to.equal('unknown');
  });

  it('gives a verdict that JSON carries', async () => {
    const verdict = await judge(textOf(history));
    expect(JSON.parse(JSON.stringify(verdict))).to.deep.equal(verdict);
  });

  it('is drawn as a page that loads nothing, and escapes what members are called', async () => {
    const verdict = await judge(textOf(history));
    const named = structuredClone(history);
    (named[0] as Extract<HistoryLine, { e: 'header' }>).members[0] = { no: 1, nickname: '<script>' };
    const page = await drawPicture(textOf(named), verdict);
    expect(page).to.include(`class="outcome ${verdict.outcome}"`);
    expect(page).not.to.match(/<script|https?:|url\(/);
    expect(page).to.include('&#60;script');
  });

  it('is exported for elle-cli: appends and whole reads, of one room or all', async () => {
    const all: string[] = [];
    for await (const line of exportElle(textOf(history))) all.push(line);
    const line =
      /^\{:index \d+, :type :(invoke|ok|info|fail), :f :txn, :process \d+, :time \d+, :value \[\[(:append \d+ \d+|:r \d+ (nil|\[[\d ]*\]))\]\]\}$/;
    for (const text of all) expect(text).to.match(line);
    const sent = new Set(
      history.flatMap((one) => (one.e === 'invoke' && one.f === 'send' ? [one.content] : [])),
    );
    expect(all.filter((text) => text.includes(':type :invoke') && text.includes(':append'))).to.have.length(
      sent.size,
    );
    // The last read of a room has every acknowledged append.
    const last = all.filter((text) => text.includes(':type :ok') && text.includes('[:r 1 ')).at(-1) ?? '';
    const appended = all
      .filter((text) => text.includes(':type :ok'))
      .flatMap((text) => /:append 1 (\d+)/.exec(text)?.[1] ?? []);
    const read = /:r 1 \[([\d ]*)\]/.exec(last)?.[1]?.split(' ') ?? [];
    expect(read).to.include.members(appended);
    const one: string[] = [];
    for await (const text of exportElle(textOf(history), 2)) one.push(text);
    expect(one.every((text) => /\[\[:(append|r) 2 /.test(text))).to.equal(true);
    expect(one).not.to.have.length(0);
  });
});
