import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { metrics } from '../../domain/platform/metrics.js';
import type { HttpServer } from '../../http/server.js';
import { type Member, member } from '../support/api.js';
import { eventually } from '../support/eventually.js';
import { answerTo, serveHttp } from '../support/http-server.js';
import { later } from '../support/later.js';
import { service } from '../support/service.js';

/** The bound that the server under test has; its own default is half a minute. */
const STALLED_MS = 1_500;

/** More than the system's own buffers hold of a connection, in notifications of 100 kB. */
const MANY = 120;

const counted = async () => (await metrics.connectionsStalled.get()).values[0]?.value ?? 0;
const ended = async (reason: string) =>
  (await metrics.streamsClosed.get()).values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
const openStreams = async () => (await metrics.streams.get()).values[0]?.value ?? 0;

async function notify(who: Member, count: number): Promise<void> {
  const { domain } = await service();
  const notices = Array.from({ length: count }, () =>
    domain.notifications.notify({
      ...{ memberNo: who.no, type: 'note', content: 'hello', originNo: 0, cause: randomUUID() },
      url: `/${'x'.repeat(100_000)}`,
    }),
  );
  await Promise.all(notices);
}

interface Request {
  path: string;
  token?: string;
  lastEventId?: string;
}

/** Resolves once the system holds all it can of what a client is sent: for a quarter of a second it takes no more. */
async function filled(client: Socket): Promise<void> {
  for (let looks = 0; looks < 5; ) {
    await sleep(50);
    const response = answerTo(client)?.response;
    if (response?.writableEnded) throw new Error('the answer ended before the system held all it can');
    looks = response?.writableNeedDrain ? looks + 1 : 0;
  }
}

describe('clients that do not read', () => {
  let server: HttpServer;
  let port: number;
  let me: Member;
  const clients: Socket[] = [];

  before(async () => {
    ({ server, port } = await serveHttp({}, {}, STALLED_MS));
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
    return sendTo(port, ...requests);
  }

  function sendTo(at: number, ...requests: Request[]): Socket {
    const client = connect(at, '127.0.0.1');
    client.on('error', () => {});
    client.pause();
    clients.push(client);
    for (const { path, token = me.token, lastEventId } of requests) {
      const last = lastEventId ? `Last-Event-ID: ${lastEventId}\r\n` : '';
      client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${token}\r\n${last}\r\n`);
    }
    return client;
  }

  /** A stream of everything there is for a member. */
  const stream = ({ no, token }: Pick<Member, 'no' | 'token'>) => ({
    path: '/notification/connect',
    token,
    lastEventId: `${no}_0`,
  });

  it('of a REST answer are given up, also when they go on sending', async () => {
    await notify(me, MANY);
    const before = await counted();
    const silent = send({ path: '/notification/all' });
    const busy = send({ path: '/notification/all' });
    // A byte of a next request at a time starts Node’s own socket time-out anew.
    busy.write('GET /healthz HTTP/1.1\r\nDrip: ');
    const drip = setInterval(() => busy.write('x'), STALLED_MS / 6);
    try {
      await eventually(async () => expect(await counted()).to.equal(before + 2));
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
    expect(received, 'what the system held').to.be.below(MANY * 100_000);
  });

  it('of an event stream are given up while it is caught up', async () => {
    await notify(me, MANY);
    const before = [await counted(), await openStreams()];
    send(stream(me));
    await eventually(async () => expect(await openStreams()).to.equal((before[1] ?? 0) + 1));
    await eventually(async () =>
      expect([await counted(), await openStreams()]).to.deep.equal([(before[0] ?? 0) + 1, before[1]]),
    );
  });

  it('of event streams that have ended, for their token or for one too many, are given up', async () => {
    // Long enough for both to end before they are given up for the stall itself.
    const patient = await serveHttp({}, {}, 5 * STALLED_MS);
    try {
      const [short, crowded] = [await member(), await member()];
      await Promise.all([notify(short, MANY), notify(crowded, MANY)]);
      const { token } = await service();
      const before = [await counted(), await ended('expired'), await ended('too-many')];
      // Whole seconds are what a token ends at.
      await sleep(1_000 - (Date.now() % 1_000));
      const shortToken = await token(short.email, { ttl: '5s' });
      const streams = [
        sendTo(patient.port, stream({ no: short.no, token: shortToken })),
        sendTo(patient.port, stream(crowded)),
      ];
      // An end that still fits into what the system holds would be no stall.
      await Promise.all(streams.map(filled));
      const other = { path: '/notification/connect', token: crowded.token };
      for (let i = 0; i < 10; i += 1) sendTo(patient.port, other).resume();
      await eventually(async () =>
        expect([await ended('expired'), await ended('too-many')]).to.deep.equal(
          before.slice(1).map((count) => count + 1),
        ),
      );
      expect(await counted(), 'ended, and still there').to.equal(before[0]);
      await eventually(async () => expect(await counted()).to.equal((before[0] ?? 0) + 2));
    } finally {
      await patient.server.drain();
    }
  });

  it('are not those that read slowly, whose answers come whole, also one behind another', async () => {
    await notify(me, MANY);
    const before = await counted();
    const client = send({ path: '/notification/all' }, { path: '/notification/all' });
    await eventually(() => expect(answerTo(client)?.response.writableEnded).to.equal(true));
    let received = 0;
    client.on('data', ({ length }: Buffer) => {
      received += length;
      client.pause();
      // At most 64 KiB each time: the whole takes longer than the bound, without a pause that is as long.
      setTimeout(() => client.resume(), received < 6_000_000 ? 40 : 0);
    });
    client.resume();
    await eventually(() => expect(received).to.be.above(2 * MANY * 100_000));
    expect(await counted()).to.equal(before);
  });

  it('are given up after half a minute, where nothing else is set', async () => {
    await notify(me, MANY);
    const made = mock.method(globalThis, 'setInterval');
    const usual = await serveHttp();
    // Three looks in that time.
    const looks = made.mock.calls.filter(({ arguments: [, ms] }) => ms === 10_000);
    made.mock.restore();
    try {
      const look = async () => {
        for (const {
          arguments: [run],
        } of looks)
          run();
      };
      const before = await counted();
      await filled(sendTo(usual.port, stream(me)));
      await look();
      await later(20_000, look);
      expect(await counted()).to.equal(before);
      await later(30_000, look);
      expect(await counted()).to.equal(before + 1);
    } finally {
      await usual.server.drain();
    }
  });

  it('of a stream behind another answer leave nothing behind, whether they stay or go', async () => {
    const before = [await counted(), await openStreams()];
    const goes = send({ path: '/notification/connect' }, { path: '/notification/connect' });
    await eventually(async () => expect(await openStreams()).to.equal((before[1] ?? 0) + 2));
    goes.destroy();
    await eventually(async () => expect(await openStreams()).to.equal(before[1]));
    send({ path: '/notification/connect' }, { path: '/notification/connect' }).resume();
    await eventually(async () => expect(await openStreams()).to.equal((before[1] ?? 0) + 2));
    await eventually(async () =>
      expect([await counted(), await openStreams()]).to.deep.equal([(before[0] ?? 0) + 1, before[1]]),
    );
  });
});
