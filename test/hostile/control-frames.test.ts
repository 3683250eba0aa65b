import { once } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { openTcp, rawConnection, rawRequest } from '../support/raw-connection.js';
import { rawPolling } from '../support/raw-polling.js';
import { clientFrame, type RawSocket, rawSocket } from '../support/raw-socket.js';
import { connect } from '../support/sockets.js';

/** More than any budget allows. */
const FLOOD = 20_000;

/** Frames before the admission. (PROTOCOL.md, limits) */
const UNADMITTED = 10;

/** Time in which the reason may reach the client, ms. */
const FAREWELL_MS = 2_000;

const EMPTY = Buffer.alloc(0);
const times = (frame: Buffer, count = FLOOD) => Buffer.concat(Array.from({ length: count }, () => frame));

const PINGS = times(clientFrame(EMPTY, { first: 0x89 }));
const PONGS = times(clientFrame(EMPTY, { first: 0x8a }));
/** A text that goes on for ever. */
const CONTINUATIONS = Buffer.concat([
  clientFrame(EMPTY, { first: 0x01 }),
  times(clientFrame(EMPTY, { first: 0x00 })),
]);
/** The first 40,000 bytes of a frame. */
const UNFINISHED = clientFrame(Buffer.alloc(40_000), { length: 100_000 });

/** On the engine of the run, and on ws. uWebSockets.js does not show the other kinds. (docs/decisions/engines.md) */
const FLOODS: [what: string, flood: Buffer, settings: Record<string, string>][] = [
  ['pings', PINGS, {}],
  ['pongs', PONGS, {}],
  ['pings to ws', PINGS, { GATEWAY_ENGINE: 'ws' }],
  ['pongs to ws', PONGS, { GATEWAY_ENGINE: 'ws' }],
  ['empty continuations to ws', CONTINUATIONS, { GATEWAY_ENGINE: 'ws' }],
  ['an unfinished frame to ws', UNFINISHED, { GATEWAY_ENGINE: 'ws' }],
];

describe('a client that sends what is no message', () => {
  let lone: LoneGateway;
  const opened: RawSocket[] = [];

  afterEach(async () => {
    mock.timers.reset();
    for (const { socket } of opened.splice(0)) socket.destroy();
    await stopGateways();
  });

  async function raw(): Promise<RawSocket> {
    const socket = await rawSocket(lone.base);
    opened.push(socket);
    // Otherwise it would first have to be rid of what it wrote.
    socket.socket.once('end', () => socket.socket.destroy());
    return socket;
  }

  /** Answers to its pings: all empty frames but the last, which closes. uWebSockets.js has answered a ping before it shows it. */
  const pongs = ({ heard }: RawSocket) => heard.filter((text) => text === '').length - 1;

  for (const [what, flood, settings] of FLOODS) {
    it(`11: before it is admitted (${what}) is told, and closed`, async () => {
      lone = await startGateway(settings);
      const other = await connect({ token: 'member-8' }, {}, lone.base);
      const hostile = await raw();
      hostile.socket.write(flood);
      expect((await hostile.next(/RATE_LIMITED/)).slice(0, 2)).to.equal('44');
      await hostile.closed;
      expect(pongs(hostile)).to.be.at.most(UNADMITTED + 1);
      expect(await other.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
    });

    it(`11: as a member (${what}) is told, and closed`, async () => {
      lone = await startGateway({ ...settings, SOCKET_FRAMES: '100', SOCKET_BYTES: '131072' });
      const other = await connect({ token: 'member-8' }, {}, lone.base);
      const hostile = await raw();
      hostile.send('40{"token":"member-7"}');
      await hostile.next(/^40/);
      // Four unfinished ones are more than the bytes of a member.
      for (let i = 0; i < 4; i += 1) hostile.socket.write(flood);
      expect(await hostile.next(/^42\["closing"/)).to.include('TOO_MANY_FRAMES');
      await hostile.closed;
      expect(pongs(hostile)).to.be.at.most(100 + 1);
      expect(await other.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
    });
  }

  it('11: is not read any more by ws, and its connection destroyed 2 s later, whatever it does', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    lone = await startGateway({ GATEWAY_ENGINE: 'ws' });
    const socket = openTcp(lone.base, { allowHalfOpen: true });
    const hostile = await rawSocket(lone.base, undefined, undefined, socket);
    opened.push(hostile);
    socket.write(PINGS);
    await hostile.next(/RATE_LIMITED/);
    // More than the system takes for a process that does not read.
    let isRead: boolean | undefined;
    socket.write(Buffer.alloc(64 * 1024 * 1024), (error) => {
      isRead = !error;
    });
    await once(socket, 'end');
    mock.timers.tick(FAREWELL_MS);
    await hostile.closed;
    expect(isRead).to.equal(false);
  });

  it('11: by long-polling pays for bodies that it announces, and has to announce them', async () => {
    lone = await startGateway();
    const hostile = await rawPolling(lone.base);
    const { pathname, search } = new URL(hostile.url);
    const post = (header: string) => `POST ${pathname}${search} HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`;
    expect(await rawRequest(lone.base, post('Transfer-Encoding: chunked'), /Content-Length/)).to.match(
      / 400 /,
    );
    const heard = hostile.poll();
    const unfinished = rawConnection(lone.base, post('Content-Length: 40000'));
    expect((await heard)[0]).to.match(/^44.*RATE_LIMITED/);
    unfinished.socket.destroy();
  });
});
