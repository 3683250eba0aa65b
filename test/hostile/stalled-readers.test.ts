import type { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { HttpServer } from '../../http/server.js';
import { type Member, member } from '../support/api.js';
import { counted } from '../support/counted.js';
import { eventually, sleep } from '../support/eventually.js';
import { answerTo, serveHttp } from '../support/http-server.js';
import { notifyOf } from '../support/notifications.js';
import { openTcp, rawGet } from '../support/raw-connection.js';
import { service } from '../support/service.js';
import { later } from '../support/time.js';

/** Interval, in ms, between the server's looks for clients that do not read; these tests call them, at times of their own. */
const LOOK_MS = 10_000;

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

/** Resolves once the system's buffers for a client are full: for a quarter of a second they take no more of an answer. */
async function filled(client: Socket): Promise<void> {
  let left = 0;
  for (let looks = 0; looks < 5; ) {
    await sleep(50);
    const { writableLength = 0 } = answerTo(client)?.response ?? {};
    looks = writableLength > 0 && writableLength === left ? looks + 1 : 0;
    left = writableLength;
  }
}

/** A server that looks for clients that do not read when `look` is called, as if that were `ms` later than it is. */
async function serveWatched(settings: Record<string, string> = {}) {
  const made = mock.method(globalThis, 'setInterval');
  const served = await serveHttp(settings);
  const looks = made.mock.calls.filter(({ arguments: [, ms] }) => ms === LOOK_MS);
  made.mock.restore();
  for (const { result } of looks) clearInterval(result);
  const look = (ms = 0) =>
    later(ms, async () => {
      for (const { arguments: called } of looks) called[0]();
    });
  return { ...served, look };
}

describe('clients that do not read', () => {
  let server: HttpServer;
  let look: (ms?: number) => Promise<void>;
  let base: string;
  let me: Member;
  const clients: Socket[] = [];

  before(async () => {
    ({ server, base, look } = await serveWatched({ RATE_LIMIT: 'on' }));
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
    const client = openTcp(base);
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

  it('40: of a REST answer are closed after half a minute, also when they go on sending', async () => {
    await notify(me, MANY);
    const before = await stalled();
    const silent = send({ path: '/notification/all' });
    const busy = send({ path: '/notification/all' });
    await Promise.all([silent, busy].map(filled));
    await look();
    // Each byte of a next request restarts Node’s own socket timeout.
    busy.write('GET /healthz HTTP/1.1\r\nDrip: x');
    await look(20_000);
    expect(await stalled()).to.equal(before);
    busy.write('x');
    await look(30_000);
    expect(await stalled()).to.equal(before + 2);
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
    const before = [await stalled(), await openStreams()] as const;
    await filled(send(stream(me)));
    await look();
    await look(20_000);
    expect([await stalled(), await openStreams()]).to.deep.equal([before[0], before[1] + 1]);
    await look(30_000);
    await eventually(async () =>
      expect([await stalled(), await openStreams()]).to.deep.equal([before[0] + 1, before[1]]),
    );
  });

  it('of an event stream that has ended with its token is closed', async () => {
    const short = await member();
    await notify(short, MANY);
    const { token } = await service();
    const before = [await stalled(), await ended('expired')] as const;
    // Below the 20 s between two heartbeats, at one of which a longer one would get its timer.
    const shortToken = await token(short.email, { ttl: '19s' });
    const made = mock.method(globalThis, 'setTimeout');
    const silent = send(stream({ no: short.no, token: shortToken }));
    // An end that fits into the buffers would be no stall.
    await filled(silent);
    const expiries = made.mock.calls.filter(({ arguments: [, ms] }) => ms && ms > 10_000 && ms <= 19_000);
    made.mock.restore();
    for (const { arguments: called } of expiries) called[0]();
    expect(await ended('expired')).to.equal(before[1] + 1);
    await look();
    await look(20_000);
    expect(await stalled(), 'ended, and still connected').to.equal(before[0]);
    await look(30_000);
    expect(await stalled()).to.equal(before[0] + 1);
  });

  it('stay open if they read slowly: they get whole answers, also two in a row', async () => {
    await notify(me, MANY);
    const before = await stalled();
    const client = send({ path: '/notification/all' });
    await eventually(() => expect(answerTo(client)?.response.writableEnded).to.equal(true));
    client.write(rawGet('/notification/all', me.token));
    let received = 0;
    // A look at every fifth of an answer, each 25 s later: below the bound from one to the next, far above it in all.
    let looks = 0;
    client.on('data', async ({ length }: Buffer) => {
      received += length;
      if (received < ((looks + 1) * MANY * 100_000) / 5) return;
      looks += 1;
      client.pause();
      await look(looks * 25_000);
      client.resume();
    });
    client.resume();
    await eventually(() => expect(received).to.be.above(2 * MANY * 100_000));
    expect(looks).to.be.at.least(10);
    expect(await stalled()).to.equal(before);
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
