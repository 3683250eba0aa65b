import { expect } from 'chai';
import fc from 'fast-check';
import { WAIT_MS } from '../../support/eventually.js';
import { rawPolling } from '../../support/raw-polling.js';
import { clientFrame, rawSocket } from '../../support/raw-socket.js';
import { startServiceProcess } from '../../support/service-process.js';
import { connect } from '../../support/sockets.js';
import { type Door, expectNoScans, MEASURED } from './door.js';
import { SECRET, tokens } from './tokens.js';
import { damaged, rarely, wild } from './values.js';

type Attack =
  | { kind: 'frames'; admitted: boolean; frames: (string | Buffer)[] }
  | { kind: 'bodies'; admitted: boolean; bodies: string[] }
  | { kind: 'handshake'; method: string; query: string };

const CONNECT = '40{"token":"TOKEN"}';

const payload = fc.oneof(
  fc.constantFrom<unknown>(['room:join', { chatNo: 1 }], ['disconnect'], ['connect', {}], [], {
    token: 'TOKEN',
  }),
  fc.tuple(fc.constantFrom('message:send', 'typing', '__proto__', 'connect_error'), wild),
  tokens.map((token) => ({ token })),
  wild,
);

/** Engine.IO and Socket.IO packets: type, attachments, namespace, number of the acknowledgement, payload. */
const packet = fc
  .tuple(
    fc.constantFrom('4', '4', '4', '4', '4', '4', '0', '2', '2probe', '3', '5', '6', '7', 'b', ''),
    fc.constantFrom('0', '2', '2', '2', '1', '3', '4', '5', '6', '9', ''),
    fc.constantFrom('', '', '', '', '1-', '99999999999-', '-1-', '1'),
    fc.constantFrom('', '', '', '', '/,', '/admin,', '/admin', `/${'x'.repeat(3_000)},`),
    fc.constantFrom('', '', '0', '7', '00', '99999999999999999999', '-1'),
    payload.map((value) => JSON.stringify(value)),
  )
  .map((parts) => parts.join(''));

const text = fc.oneof(
  { weight: 6, arbitrary: packet },
  { weight: 2, arbitrary: damaged(packet) },
  fc.string(),
);

/** WebSocket frames as they should not be. */
const frame = fc
  .tuple(
    fc.oneof(
      text.map((one) => Buffer.from(one)),
      fc.uint8Array({ maxLength: 200 }),
    ),
    fc.record({
      first: fc.oneof(fc.constantFrom(0x81, 0x82, 0x80, 0x01, 0x02, 0x88, 0x89, 0x8a), fc.nat(255)),
      length: fc.oneof(fc.constant(undefined), fc.constantFrom(0, 1, 125, 65_536, 2 ** 31, 2 ** 52)),
      masked: rarely(true, fc.constant(false)),
    }),
  )
  .map(([payload, odd]) => clientFrame(payload, odd));

const parameter = fc.constantFrom(
  ...'EIO=4 EIO=3 EIO= transport=polling transport=websocket transport=__proto__ transport[]=polling'.split(
    ' ',
  ),
  ...`b64=1 j=0 sid= sid=x sid=__proto__ sid=%zz sid=${'x'.repeat(5_000)} t=%00 &&`.split(' '),
);

const attack: fc.Arbitrary<Attack> = fc.oneof(
  fc.record({
    kind: fc.constant('frames' as const),
    admitted: fc.boolean(),
    frames: fc.array(fc.oneof<fc.Arbitrary<string | Buffer>[]>(text, text, frame), { maxLength: 12 }),
  }),
  fc.record({
    kind: fc.constant('bodies' as const),
    admitted: fc.boolean(),
    bodies: fc.array(
      fc.array(text, { minLength: 1, maxLength: 6 }).map((packets) => packets.join('\x1e')),
      { maxLength: 4 },
    ),
  }),
  fc.record({
    kind: fc.constant('handshake' as const),
    method: fc.constantFrom('GET', 'GET', 'POST', 'OPTIONS', 'PUT', 'HEAD'),
    query: fc
      .tuple(fc.constantFrom('EIO=4&transport=polling&', ''), fc.array(parameter, { maxLength: 3 }))
      .map(([usual, more]) => usual + more.join('&')),
  }),
);

/** Raw frames, polling bodies and handshakes, within the limits of connections. */
export const frames: Door<Attack> = {
  name: 'frames',
  cases: 350,
  input: attack,
  async open() {
    const service = await startServiceProcess({ TRUST_PROXY: '1', JWT_SECRET: SECRET, ...MEASURED });
    const { gateway } = service;
    const token = await service.token('asker@example.org');
    let sources = 0;
    // Each from an address of its own: connects of one are limited.
    const source = () => {
      sources += 1;
      return `10.${sources >> 16}.${(sources >> 8) & 255}.${sources & 255}`;
    };

    const inPlace = (packet: string) => packet.replaceAll('TOKEN', token);

    async function sendFrames(admitted: boolean, list: (string | Buffer)[]): Promise<void> {
      const raw = await rawSocket(gateway, undefined, [`X-Forwarded-For: ${source()}`]);
      if (admitted) {
        raw.send(inPlace(CONNECT));
        await raw.next(/^40/);
      }
      for (const one of list) {
        if (typeof one === 'string') raw.send(inPlace(one));
        else raw.socket.write(one);
      }
      // Close, by Engine.IO or, if a frame is unfinished, by TCP.
      raw.send('1');
      raw.socket.end();
      await raw.closed;
    }

    async function sendBodies(admitted: boolean, bodies: string[]): Promise<void> {
      const polling = await rawPolling(gateway, { 'X-Forwarded-For': source() });
      for (const body of [...(admitted ? [CONNECT] : []), ...bodies, '1'])
        expect(await polling.post([inPlace(body)])).to.be.below(500);
      await polling.poll();
    }

    async function shake(method: string, query: string): Promise<void> {
      const answer = await fetch(`${gateway}/socket.io/?${query}`, {
        method,
        headers: { 'X-Forwarded-For': source() },
        signal: AbortSignal.timeout(WAIT_MS),
      });
      expect(answer.status).to.be.below(500);
      await answer.text();
    }

    return {
      processes: [service.process],
      async send(given) {
        if (given.kind === 'frames') await sendFrames(given.admitted, given.frames);
        else if (given.kind === 'bodies') await sendBodies(given.admitted, given.bodies);
        else await shake(given.method, given.query);
        expect((await fetch(`${gateway}/healthz`)).status).to.equal(200);
      },
      async check() {
        const client = await connect({ token }, {}, gateway);
        expect(await client.ask('room:join', { chatNo: 1 })).to.include({ status: 404 });
        client.socket.disconnect();
        await expectNoScans(service.mongoUri);
      },
      close: async () => void (await service.stop()),
    };
  },
};
