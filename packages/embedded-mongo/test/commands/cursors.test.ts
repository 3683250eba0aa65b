import { mock } from 'node:test';
import { expect } from 'chai';
import { type CursorReply, Cursors } from '../../src/commands/cursors.js';

const MINUTE = 60_000;
const MEBIBYTE = 1024 * 1024;
const COLLECTION = 'test.c';

/** A result of so many documents, each of one number, that says when it is given up. */
function* result(count: number, onEnd: () => void = () => {}): Generator<Uint8Array> {
  try {
    for (let i = 0; i < count; i++) yield Uint8Array.of(i);
  } finally {
    onEnd();
  }
}

const numbers = ({ documents }: Pick<CursorReply, 'documents'>): number[] =>
  documents.map(([number]) => number as number);
const upTo = (end: number, from = 0): number[] => Array.from({ length: end - from }, (_, i) => from + i);

describe('embedded database: cursors', () => {
  let cursors: Cursors;

  const first = (count: number, batchSize?: number, onEnd?: () => void) =>
    cursors.first(COLLECTION, result(count, onEnd), batchSize);
  const codeOf = (run: () => unknown) => {
    try {
      run();
      return undefined;
    } catch (error) {
      return (error as { code?: unknown }).code;
    }
  };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval', 'Date'] });
    cursors = new Cursors();
  });
  afterEach(() => {
    cursors.close();
    mock.timers.reset();
  });

  it('gives 101 documents first and all others then, unless told otherwise', () => {
    const { cursorId, documents } = first(250);
    expect(cursorId > 0n).to.equal(true);
    expect(numbers({ documents })).to.deep.equal(upTo(101));
    const rest = cursors.next(cursorId, COLLECTION, undefined);
    expect(rest.cursorId).to.equal(0n);
    expect(numbers(rest)).to.deep.equal(upTo(250, 101));
    expect(
      codeOf(() => cursors.next(cursorId, COLLECTION, undefined)),
      'used up',
    ).to.equal(43);
  });

  it('gives batches of the size asked for, none at all for a first one of 0', () => {
    const none = first(5, 0);
    expect(none.documents).to.deep.equal([]);
    const { cursorId } = none;
    for (const expected of [
      [0, 1],
      [2, 3],
    ]) {
      const batch = cursors.next(cursorId, COLLECTION, 2);
      expect(batch.cursorId).to.equal(cursorId);
      expect(numbers(batch)).to.deep.equal(expected);
    }
    expect(numbers(cursors.next(cursorId, COLLECTION, 0)), 'a later one of 0 is all').to.deep.equal([4]);
  });

  it('needs no second batch where the first holds all, and none is kept of a single batch', () => {
    let ended = 0;
    const onEnd = () => ended++;
    expect(first(3, 3, onEnd)).to.include({ cursorId: 0n });
    const single = cursors.first(COLLECTION, result(9, onEnd), 2, true);
    expect(single.cursorId).to.equal(0n);
    expect(numbers(single)).to.deep.equal([0, 1]);
    expect({ ended, open: cursors.size }).to.deep.equal({ ended: 2, open: 0 });
  });

  it('fills a batch up to 16 MiB, though always with one document', () => {
    const sizes = [8, 8, 9, 8, 17, 1];
    function* large(): Generator<Uint8Array> {
      for (const size of sizes) yield new Uint8Array(size * MEBIBYTE);
    }
    const batches = [cursors.first(COLLECTION, large(), undefined, false)];
    for (let { cursorId } = batches[0] as CursorReply; cursorId !== 0n; ) {
      const batch = cursors.next(cursorId, COLLECTION, undefined);
      batches.push(batch);
      cursorId = batch.cursorId;
    }
    const lengths = batches.map(({ documents }) => documents.map(({ length }) => length / MEBIBYTE));
    expect(lengths).to.deep.equal([[8, 8], [9], [8], [17], [1]]);
  });

  it('opens no more than are allowed at once, and closes what it opens', () => {
    let ended = 0;
    const ids = upTo(1000).map(() => first(9, 1, () => ended++).cursorId);
    expect(new Set(ids).size).to.equal(1000);
    expect(codeOf(() => first(9, 1))).to.equal(146);
    expect(first(1).cursorId, 'a whole result needs none').to.equal(0n);
    expect(cursors.kill(ids[0] as bigint)).to.equal(true);
    expect(cursors.kill(ids[0] as bigint)).to.equal(false);
    expect(ended).to.equal(1);
    first(9, 1, () => ended++);
    cursors.close();
    expect({ ended, open: cursors.size }).to.deep.equal({ ended: 1001, open: 0 });
  });

  it('lets a cursor be read through its own collection alone', () => {
    const { cursorId } = first(9, 1);
    expect(codeOf(() => cursors.next(cursorId, 'test.other', 1))).to.equal(13);
    expect(numbers(cursors.next(cursorId, COLLECTION, 1))).to.deep.equal([1]);
    expect(codeOf(() => cursors.next(cursorId + 1n, COLLECTION, 1))).to.equal(43);
  });

  it('closes a cursor whose reading fails', () => {
    function* failing(): Generator<Uint8Array> {
      yield Uint8Array.of(0);
      throw new Error('broken');
    }
    const { cursorId } = cursors.first(COLLECTION, failing(), 0, false);
    expect(() => cursors.next(cursorId, COLLECTION, 2)).to.throw('broken');
    expect(codeOf(() => cursors.next(cursorId, COLLECTION, 1))).to.equal(43);
  });

  it('closes what has not been used for the idle time, within a minute, and no other', () => {
    let ended = 0;
    const idle = first(9, 1, () => ended++).cursorId;
    const used = first(9, 1).cursorId;
    mock.timers.tick(5 * MINUTE);
    cursors.next(used, COLLECTION, 1);
    mock.timers.tick(5 * MINUTE);
    expect(cursors.size, 'at the limit').to.equal(2);
    mock.timers.tick(MINUTE);
    expect({ ended, open: cursors.size }).to.deep.equal({ ended: 1, open: 1 });
    expect(codeOf(() => cursors.next(idle, COLLECTION, 1))).to.equal(43);
    expect(numbers(cursors.next(used, COLLECTION, 1))).to.deep.equal([2]);
  });
});
