import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { judge } from '../../../scripts/prove/check/judge.js';
import type { HistoryLine } from '../../../scripts/prove/history.js';
import { HistoryFile } from '../../../scripts/prove/history-file.js';
import { LiveJudge } from '../../../scripts/prove/live-judge.js';
import { modelHistory } from './model-history.js';
import { mutations } from './mutations/index.js';

async function* textOf(lines: HistoryLine[]): AsyncGenerator<string> {
  for (const line of lines) yield JSON.stringify(line);
}

/** Judges lines one by one. @returns what was told after which line, and the judge */
function live(lines: object[]) {
  const told: string[] = [];
  let number = 0;
  const judging = new LiveJudge({
    broken: ({ rule }) => told.push(`${number} ${rule}`),
    failed: ({ message }) => told.push(`${number} ${message}`),
  });
  for (const line of lines) {
    number += 1;
    judging.read(line);
  }
  return { told, judging };
}

describe('the judge of a run that goes on', () => {
  it('gives the verdict of the kept history', async () => {
    const lines = modelHistory(7, 200);
    for (const { apply } of mutations.slice(0, 3)) {
      const changed = structuredClone(lines);
      apply(changed);
      expect(live(changed).judging.end()).to.deep.equal(await judge(textOf(changed)));
    }
  });

  it('tells once, with the line, that a promise is broken', () => {
    const lines = modelHistory(7, 200);
    const index = lines.findIndex((line) => line.e === 'ok' && line.f === 'rooms' && line.rooms.length > 0);
    const line = lines[index] as Extract<HistoryLine, { f: 'rooms'; e: 'ok' }>;
    for (const state of line.rooms) state.unread += 1_000;
    expect(live(lines).told).to.deep.equal([`${index + 1} unread-counts`]);
  });

  it('tells what is missing so far, as often as asked', () => {
    const lines = modelHistory(7, 200);
    const half = live(lines.slice(0, 50)).judging;
    expect(half.missing()).to.include('the history ends before its run: it has no line for the phase "end"');
    const { judging } = live(lines);
    judging.missing();
    // Some comparisons are made at the end only.
    expect(judging.missing()).to.include.members(judging.end().missing);
  });

  it('tells once of a line that is none, and has no verdict', () => {
    const { told, judging } = live([...modelHistory(7, 20).slice(0, 5), { t: 'soon' }, { t: 'later' }]);
    expect(told).to.have.length(1);
    expect(told[0]).to.match(/^6 line 6: /);
    expect(() => judging.end()).to.throw(/^line 6: /);
  });

  it('is handed what the file holds, whatever becomes of the objects afterwards', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-history-'));
    try {
      const path = join(folder, 'history.ndjson');
      const seen: object[] = [];
      const history = new HistoryFile(
        path,
        () => {},
        (line) => seen.push(structuredClone(line)),
      );
      const chatList = [{ id: 'x', senderNo: 1, content: 'hello' }];
      const asker = { client: 'm1.a', member: 1, process: 'http-0', door: 'rest' } as const;
      history.begin(asker, 'messages', { room: 7, limit: 50 }).ok({ chatList });
      chatList.length = 0;
      await history.close();
      history.write({ e: 'phase', phase: 'end' });
      const kept = readFileSync(path, 'utf8').trim().split('\n');
      expect(seen).to.deep.equal(kept.map((text) => JSON.parse(text)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
