import type { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { metrics } from '../../domain/platform/metrics.js';
import type { HttpServer } from '../../http/server.js';
import { type Member, member } from '../support/api.js';
import { counted } from '../support/counted.js';
import { eventually, sleep } from '../support/eventually.js';
import { answerTo, serveHttp } from '../support/http-server.js';
import { notifyOf } from '../support/notifications.js';
import { openTcp, rawGet } from '../support/raw-connection.js';
import { service } from '../support/service.js';
import { later } from '../support/time.js';

/** Time, in ms, after which the server under test closes a client that does not read; the default is half a minute. */
const STALLED_MS = 1_500;

/** Notifications of 100 kB: more than the system buffers for a connection. */
const MANY = 120;

const stalled = () => counted(metrics.connectionsClosed, { reason: 'stalled' });
const ended = (reason: string) => counted(metrics.streamsClosed, { reason });
const openStreams = () => counted(metrics.streams);

/** @param count notifications of 100 kB */
const notify = (who: Member, count: number) =>
  Promise.all(Array.from({ length: count }, () => notifyOf(who, 'hello', `/${'x'.repeat(100_000)}`)));

interface Request {
  path: string;
  token?: string;
  lastEventId?: string;
}

/** Resolves once the system's buffers for a client are full: for a quarter of a second they take no more. */
async function filled(client: Socket): Promise<void> {
  for (let looks = 0; looks < 5; ) {
    await sleep(50);
    const response = answerTo(client)?.response;
    if (response?.writableEnded) throw new Error('the answer ended before the buffers were full');
    looks = response?.writableNeedDrain ? looks + 1 : 0;
  }
}

describe('clients that do not read', () => {
  let server: HttpServer;
  let base: string;
  let me: Member;
  const clients: Socket[] = [];

  before(async () => {
    ({ server, base } = await serveHttp({}, {}, { stalledMs: STALLED_MS }));
  });
  beforeEach(async () => {
    me = await member();
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
  });
  after(() => server.drain());

  /** Sends requests over one connection, and reads nothing until `resume`. */
  function send(...requests: Request[]): Socket {
    return sendTo(base, ...requests);
  }

  function sendTo(at: string, ...requests: Request[]): Socket {
    const client = openTcp(at);
    client.pause();
    clients.push(client);
    for (const { path, token = me.token, lastEventId } of requests)
      client.write(rawGet(path, token, ...(lastEventId ? [`Last-Event-ID: ${lastEventId}`] : [])));
    return client;
  }

  /** A stream that replays everything a member has. */
  const stream = ({ no, token }: Pick<Member, 'no' | 'token'>) => ({
    path: '/notification/connect',
    token,
    lastEventId: `${no}_0`,
  });

  it('of a REST answer are closed, also when they go on sending', async () => {
    await notify(me, MANY);
    const before = await stalled();
    const silent = send({ path: '/notification/all' });
    const busy = send({ path: '/notification/all' });
    // Each byte of a next request restarts Node’s own socket timeout.
    busy.write('GET /healthz HTTP/1.1\r\nDrip: ');
    const drip = setInterval(() => busy.write('x'), STALLED_MS / 6);
    try {
      await eventually(async () => expect(await stalled()).to.equal(before + 2));
    } finally {
      clearInterval(drip);
    }
    let received = 0;
    silent.on('data', ({ length }: Buffer) => {
      received += length;
    });
    const gone = new Promise((resolve) => silent.once('close', resolve));
    silent.resume();
    await gone;
    expect(received, 'what the system buffered').to.be.below(MANY * 100_000);
  });

  it('of an event stream are closed during its replay', async () => {
    await notify(me, MANY);
    const before = [await stalled(), await openStreams()];
    send(stream(me));
    await eventually(async () => expect(await openStreams()).to.equal((before[1] ?? 0) + 1));
    await eventually(async () =>
      expect([await stalled(), await openStreams()]).to.deep.equal([(before[0] ?? 0) + 1, before[1]]),
    );
  });

  it('of an event stream that has ended with its token is closed', async () => {
    // Long enough for the stream to end before it is closed for the stall itself.
    const patient = await serveHttp({ RATE_LIMIT: 'on' }, {}, { stalledMs: 5 * STALLED_MS });
    try {
      const short = await member();
      await notify(short, MANY);
      const { token } = await service();
      const before = [await stalled(), await ended('expired')] as const;
      // A token expires at a whole second.
      await sleep(1_000 - (Date.now() % 1_000));
      const shortToken = await token(short.email, { ttl: '5s' });
      // An end that fits into the buffers would be no stall.
      await filled(sendTo(patient.base, stream({ no: short.no, token: shortToken })));
      await eventually(async () => expect(await ended('expired')).to.equal(before[1] + 1));
      expect(await stalled(), 'ended, and still connected').to.equal(before[0]);
      await eventually(async () => expect(await stalled()).to.equal(before[0] + 1));
    } finally {
      await patient.server.drain();
    }
  });

  it('stay open if they read slowly: they get whole answers, also two in a row', async () => {
    // On a busy machine the pauses become longer.
    const patient = await serveHttp({}, {}, { stalledMs: 2 * STALLED_MS });
    try {
      await notify(me, MANY);
      const before = await stalled();
      const client = sendTo(patient.base, { path: '/notification/all', token: me.token });
      await eventually(() => expect(answerTo(client)?.response.writableEnded).to.equal(true));
      client.write(rawGet('/notification/all', me.token));
      let received = 0;
      client.on('data', ({ length }: Buffer) => {
        received += length;
        client.pause();
        // At most 64 KiB each time: the whole takes longer than the bound, each pause is shorter.
        setTimeout(() => client.resume(), received < 8_000_000 ? 40 : 0);
      });
      client.resume();
      await eventually(() => expect(received).to.be.above(2 * MANY * 100_000));
      expect(await stalled()).to.equal(before);
    } finally {
      await patient.server.drain();
    }
  });

  it('40: are closed after half a minute by default', async () => {
    await notify(me, MANY);
    const made = mock.method(globalThis, 'setInterval');
    const usual = await serveHttp();
    // The checks run every 10 s.
    const looks = made.mock.calls.filter(({ arguments: [, ms] }) => ms === 10_000);
    made.mock.restore();
    try {
      const look = async () => {
        for (const {
          arguments: [run],
        } of looks)
          run();
      };
      const before = await stalled();
      await filled(sendTo(usual.base, stream(me)));
      await look();
      await later(20_000, look);
      expect(await stalled()).to.equal(before);
      await later(30_000, look);
      expect(await stalled()).to.equal(before + 1);
    } finally {
      await usual.server.drain();
    }
  });

  it('of a stream requested behind another get none until that one ends, and leave nothing behind', async () => {
    const before = [await stalled(), await openStreams()];
    const both = send({ path: '/notification/connect' }, { path: '/notification/connect' });
    both.resume();
    await eventually(async () => expect(await openStreams()).to.equal((before[1] ?? 0) + 1));
    both.destroy();
    await eventually(async () => expect([await stalled(), await openStreams()]).to.deep.equal(before));
  });
});
