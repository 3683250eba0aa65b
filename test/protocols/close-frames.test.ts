import { expect } from 'chai';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { engineNames } from '../support/engine.js';
import { clientFrame, rawSocket } from '../support/raw-socket.js';

/** Opcode of a close frame that is no part of another. */
const CLOSE = 0x88;

/** What a client may not close with, and the code that names it. (RFC 6455, sections 5.5.1, 7.4 and 8.1) */
const INVALID: [name: string, payload: number[], code: number][] = [
  ['half a code', [3], 1002],
  ['a code that is never sent', [3, 0xed], 1002],
  ['a code below all', [3, 0xe7], 1002],
  ['a reason that is no UTF-8', [3, 0xe8, 0xff, 0xfe], 1007],
];

for (const engine of engineNames) {
  describe(`a close frame on ${engine}`, () => {
    let lone: LoneGateway;
    before(async () => {
      lone = await startGateway({ GATEWAY_ENGINE: engine, RATE_LIMIT: 'off' });
    });
    after(stopGateways);

    /** The last frame that answers a close frame, without its opcode and length. */
    async function answerTo(payload: number[]): Promise<string> {
      const raw = await rawSocket(lone.base);
      let received = Buffer.alloc(0);
      raw.socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
      });
      raw.socket.write(clientFrame(Buffer.from(payload), { first: CLOSE }));
      await raw.closed;
      const last = received.subarray(received.lastIndexOf(CLOSE));
      expect([last[0], last[1]]).to.deep.equal([CLOSE, last.length - 2]);
      return last.toString('hex', 2);
    }

    it('is answered by its own code', async () => {
      expect(await answerTo([3, 0xe8])).to.equal('03e8');
    });

    for (const [name, payload, code] of INVALID)
      it(`with ${name} is answered, by ${code} where the library can`, async () => {
        // uWebSockets.js answers without a code, and calls nobody before.
        const expected = engine === 'uws' ? '' : code.toString(16).padStart(4, '0');
        expect(await answerTo(payload)).to.equal(expected);
      });
  });
}
