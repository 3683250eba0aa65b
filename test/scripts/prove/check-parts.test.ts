import { expect } from 'chai';
import { describeVerdict, judge } from '../../../scripts/prove/check/judge.js';
import type { Header, HistoryLine } from '../../../scripts/prove/history.js';
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

const fault = (kind: string, target: string, phase: 'begin' | 'end', t: number): HistoryLine => ({
  ...{ e: 'fault', fault: kind, target, phase, t },
});

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
    expect(await failureOf(JSON.stringify({ ...header, format: 1 }))).to.match(/^line 1: format: /);
  });

  it('that ends early is unknown, not proven, and says what was never tried', async () => {
    const verdict = await judge(lines(JSON.stringify(header)));
    expect(verdict.outcome).to.equal('unknown');
    expect(verdict.missing[0]).to.match(/^the history ends before its run/);
    expect(describeVerdict(verdict)).to.include(
      'unknown: never reached: rooms read whole at the end by both',
    );
  });

  it('needs no notification of a comment that is removed before it had to be there', async () => {
    const { articles, members } = header as Header;
    const [{ article, author } = { article: 0, author: 0 }] = articles;
    const writer = members.find(({ no }) => no !== author)?.no as number;
    const notifiesOnce = async (removedAt: number): Promise<number | undefined> => {
      const asked = (t: number, op: number, f: string, member: number, fields: object = {}) => ({
        ...{ t, e: 'invoke', op, f, client: `m${member}.a`, member, process: 'http-0', ...fields },
        door: f === 'stream' ? 'stream' : 'rest',
      });
      const ok = (t: number, op: number, f: string, fields: object = {}) => ({
        t,
        e: 'ok',
        op,
        f,
        ...fields,
      });
      const seen = { id: 9, author: writer, content: 'hello', likes: 0, deleted: false, at: 3 };
      const told = [
        ...[header, asked(1, 1, 'stream', author), ok(2, 1, 'stream', { last: 0 })],
        ...[asked(3, 2, 'comment', writer, { article, content: 'hello' }), ok(4, 2, 'comment')],
        ...[asked(5, 3, 'comments', author, { article }), ok(6, 3, 'comments', { comments: [seen] })],
        ...[asked(removedAt, 4, 'uncomment', writer, { article, comment: 9 }), ok(removedAt, 4, 'uncomment')],
        { t: 60_000, e: 'phase', phase: 'final' },
      ];
      return (await judge(lines(...told.map((line) => JSON.stringify(line))))).broken['notified-once'];
    };
    expect(await notifiesOnce(12_000)).to.equal(undefined);
    expect(await notifiesOnce(12_005)).to.equal(1);
  });

  it('is refused if its time runs backwards, or a fault ends that has not begun', async () => {
    const first = JSON.stringify(header);
    expect(
      await failureOf(first, '{"e":"phase","t":9,"phase":"quiet"}', '{"e":"phase","t":8.5,"phase":"final"}'),
    ).to.equal('line 3: t: is 8.5, and was 9 before; lines are in the order of time');
    expect(await failureOf(first, JSON.stringify(fault('kill', 'http-0', 'end', 1)))).to.equal(
      'line 2: the fault kill of http-0 ends, and has not begun',
    );
  });

  /** The model's history, in which a fault strikes from the middle of its traffic to the quiet. */
  async function struck(kind: string, target: string): Promise<string[]> {
    const traffic = history.findIndex((line) => line.e === 'phase' && line.phase === 'quiet');
    const from = Math.floor(traffic / 2);
    const begin = fault(kind, target, 'begin', (history[from] as HistoryLine).t);
    const end = fault(kind, target, 'end', (history[traffic] as HistoryLine).t);
    const lines = [
      ...history.slice(0, from),
      begin,
      ...history.slice(from, traffic),
      end,
      ...history.slice(traffic),
    ];
    const { missing } = await judge(textOf(lines));
    return missing.filter((line) => line.includes(kind));
  }

  it('is unknown if a fault met nothing that it could hurt: of its process, its client, or that needs its store', async () => {
    const met = [
      ['kill', 'socket-process-0'],
      ['half-open', 'clients of socket-process-1'],
      ['slow-reader', 'socket-1'],
      ['redis-cut', 'rest-process-0 to redis'],
      ['redis-cut', 'all to redis'],
      ['redis-stop', 'redis'],
      ['flush', 'redis'],
      ['evict', 'redis'],
      ['disk-full', 'database'],
    ] as const;
    for (const [kind, target] of met)
      expect(await struck(kind, target), `${kind} of ${target}`).to.deep.equal([]);
    const unmet = [
      ['kill', 'gateway-7'],
      ['slow-reader', 'm7.a'],
      ['redis-cut', 'http-7 to redis'],
    ] as const;
    for (const [kind, target] of unmet)
      expect(await struck(kind, target)).to.deep.equal([
        `the fault ${kind} did not meet any traffic that it could hurt`,
      ]);
  });

  it('is unknown if a fault in it has no end', async () => {
    const begin = fault('kill', 'socket-process-0', 'begin', header.t);
    const verdict = await judge(textOf([header, begin, ...history.slice(1)]));
    expect(verdict.missing).to.include('the fault kill of socket-process-0 has no end');
    expect(verdict.outcome).to.equal('unknown');
  });

  it('gives a verdict that JSON carries', async () => {
    const verdict = await judge(textOf(history));
    expect(JSON.parse(JSON.stringify(verdict))).to.deep.equal(verdict);
  });

  it('is drawn as a page that loads nothing, and escapes what members are called', async () => {
    const verdict = await judge(textOf(history));
    const named = structuredClone(history);
    (named[0] as Extract<HistoryLine, { e: 'header' }>).members[0] = {
      no: 1,
      nickname: '<script>',
      email: '',
    };
    const page = await drawPicture(textOf(named), verdict);
    expect(page).to.include(`class="${verdict.outcome}"`);
    expect(page).not.to.match(/<script|https?:|url\(/);
    expect(page).to.include('&#60;script');
  });
});
