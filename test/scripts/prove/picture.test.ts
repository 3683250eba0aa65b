import { expect } from 'chai';
import { judge } from '../../../scripts/prove/check/judge.js';
import type { HistoryLine } from '../../../scripts/prove/history.js';
import { drawPicture } from '../../../scripts/prove/picture/draw.js';
import { modelHistory } from './model-history.js';

async function* textOf(lines: HistoryLine[]): AsyncGenerator<string> {
  for (const line of lines) yield JSON.stringify(line);
}

const pageOf = async (lines: HistoryLine[]) => drawPicture(textOf(lines), await judge(textOf(lines)));

/** Of a broken promise, in the timeline. */
const MARK = /<rect [^>]*class="violation"/;

describe('the picture of a run', () => {
  const history = modelHistory(1);

  it('counts as the verdict does', async () => {
    const { counts } = await judge(textOf(history));
    const page = await pageOf(history);
    const counted = (what: string) =>
      Number(new RegExp(`<b>([\\d,]+)</b> ${what}`).exec(page)?.[1]?.replace(',', ''));
    expect(counted('messages acknowledged')).to.equal(counts.acknowledged).and.above(0);
    expect(counted('events delivered')).to.equal(counts.deliveries).and.above(0);
    expect(counted('requests without an answer')).to.equal(counts.unanswered);
  });

  it('marks where a promise was broken, and only there', async () => {
    const changed = structuredClone(history);
    const joined = changed.findLast(
      (line) => line.e === 'ok' && line.f === 'join' && line.messages.length > 0,
    );
    Object.assign((joined as { messages: object[] } | undefined)?.messages[0] ?? {}, {
      content: 'nobody sent this',
    });
    expect(await pageOf(changed))
      .to.include('Broken: nobody-sent-it (1 time)')
      .and.match(MARK);
    expect(await pageOf(history)).not.to.match(MARK);
  });
});
