import { expect } from 'chai';
import { FrameMeter } from '../../../gateway/engine/frame-meter.js';
import { clientFrame } from '../../support/raw-socket.js';

/** Each way to write a length, at its ends. (RFC 6455, section 5.2) */
const LENGTHS = [0, 1, 125, 126, 65_535, 65_536, 0, 0, 70_000, 2];

/** What a client sends, in pieces of a size. */
function* piecesOf(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('frames on a WebSocket of ws', () => {
  const bytes = Buffer.concat(LENGTHS.map((length) => clientFrame(Buffer.alloc(length, 0x81))));

  for (const size of [1, 2, 3, 5, 7, 64, 65_536, bytes.length]) {
    it(`are counted in pieces of ${size} bytes`, () => {
      const meter = new FrameMeter();
      const counts = [...piecesOf(bytes, size)].map((piece) => meter.count(piece));
      expect(counts.reduce((sum, count) => sum + count)).to.equal(LENGTHS.length);
      expect(meter.count(clientFrame(Buffer.alloc(0))), 'and the next one').to.equal(1);
    });
  }

  it('are counted at their first byte, also one that is larger than anything', () => {
    const meter = new FrameMeter();
    expect(meter.count(Buffer.from([0x81, 0xff]))).to.equal(1);
    expect(meter.count(Buffer.alloc(8, 0xff))).to.equal(0);
    expect(meter.count(Buffer.alloc(100_000, 0x89))).to.equal(0);
  });
});
