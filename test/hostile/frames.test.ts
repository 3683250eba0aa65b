import { mock } from 'node:test';
import { expect } from 'chai';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { counted } from '../support/counted.js';
import { eventually } from '../support/eventually.js';
import { rawRequest } from '../support/raw-connection.js';
import { rawPolling } from '../support/raw-polling.js';
import { handshakeRequest, type RawSocket, rawSocket } from '../support/raw-socket.js';
import { connect } from '../support/sockets.js';

/** More than any budget allows: it cost a gateway seconds. */
const FLOOD = 20_000;

/** Frames before the admission. (PROTOCOL.md, limits) */
const UNADMITTED = 10;

const times = (packet: string, count = FLOOD) => Array.from({ length: count }, () => packet);
const TOO_MUCH = { status: 429, message: 'RATE_LIMITED' };

/** What parses the packets of a server. */
interface Parser {
  _parser: { Decoder: { prototype: { add(packet: string): void } } };
}

const refused = (limit: string) => counted(metrics.limitHits, { limit });

describe('a connection that sends too much', () => {
  let lone: LoneGateway;
  const opened: RawSocket[] = [];
  /** Packets that Socket.IO has parsed. */
  let parsed: () => number;

  async function start(settings: Record<string, string> = {}): Promise<void> {
    lone = await startGateway(settings);
    const { Decoder } = (lone.io as unknown as Parser)._parser;
    const add = mock.method(Decoder.prototype, 'add');
    parsed = () => add.mock.callCount();
  }

  afterEach(async () => {
    mock.restoreAll();
    for (const { socket } of opened.splice(0)) socket.destroy();
    await stopGateways();
  });

  async function raw(query?: string): Promise<RawSocket> {
    const socket = await rawSocket(lone.base, query);
    opened.push(socket);
    return socket;
  }

  async function admitted(): Promise<RawSocket> {
    const socket = await raw();
    socket.send('40{"token":"member-7"}');
    await socket.next(/^40/);
    return socket;
  }

  /** Sends all of them in as few writes as possible. */
  function flood({ socket, send }: RawSocket, packets: string[]): void {
    socket.cork();
    for (const packet of packets) send(packet);
    socket.uncork();
  }

  const floods: [what: string, packet: string][] = [
    ['refused tokens', '40{"token":"x"}'],
    ['unknown namespaces', '40/admin,{"token":"x"}'],
    ['answers to no ping', '3'],
    ['much in one frame', `40${JSON.stringify({ token: 'x'.repeat(40_000) })}`],
  ];
  for (const [what, packet] of floods) {
    it(`11: before it is admitted (${what}) is closed, and little of it is parsed`, async () => {
      await start();
      const before = await refused('frames');
      const other = await connect({ token: 'member-8' }, {}, lone.base);
      const [hostile, atFirst] = [await raw(), parsed()];
      flood(hostile, times(packet, packet.length > 1_000 ? 20 : FLOOD));
      const told = await hostile.next(/RATE_LIMITED/);
      expect(told.slice(0, 2)).to.equal('44');
      expect(JSON.parse(told.slice(2))).to.deep.include({ message: 'RATE_LIMITED' });
      await hostile.closed;
      // The last text is the close frame.
      expect(hostile.heard.at(-2)).to.equal(told);
      expect(parsed() - atFirst).to.be.at.most(UNADMITTED);
      expect(await refused('frames')).to.equal(before + 1);
      expect(await other.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
    });
  }

  const memberFloods: [what: string, packets: string[]][] = [
    ['unknown events', times('42["nonsense"]')],
    ['events beyond their budget', times('42["typing",{"chatNo":1,"typing":true}]')],
    ['unknown namespaces', times('40/admin,{}')],
    ['answers to nothing', times('431[]')],
    ['bytes', times(`42["typing",${JSON.stringify('x'.repeat(100_000))}]`, 100)],
  ];
  for (const [what, packets] of memberFloods) {
    it(`11: as a member (${what}) is told and closed, and its further frames are not parsed`, async () => {
      await start();
      const other = await connect({ token: 'member-8' }, {}, lone.base);
      const [hostile, atFirst] = [await admitted(), parsed()];
      flood(hostile, packets);
      const closing = JSON.parse((await hostile.next(/^42\["closing"/)).slice(2)) as [string, object];
      expect(closing[1]).to.include({ code: 'TOO_MANY_FRAMES', reconnect: false });
      await hostile.closed;
      expect(parsed() - atFirst).to.be.at.most(packets.length === 100 ? 83 : 2_000);
      expect(await other.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
      expect(lone.io.of('/').sockets.size).to.equal(1);
    });
  }

  it('11: in one body of long-polling is told by the next poll and closed; none of it is parsed', async () => {
    await start();
    const before = await refused('frames');
    const hostile = await rawPolling(lone.base);
    const atFirst = parsed();
    expect(await hostile.post(times('40{"token":"x"}', 2_000))).to.equal(200);
    // While it waits for the poll, nothing more is read, or counted.
    for (let i = 0; i < 3; i += 1) expect(await hostile.post(['3'])).to.equal(400);
    const upgrade = new URL(hostile.url).search.slice(1).replace('polling', 'websocket');
    expect(await rawRequest(lone.base, handshakeRequest(upgrade), /INVALID_INPUT/)).to.match(/ 400 /);
    expect(await refused('frames')).to.equal(before + 1);
    const [told = ''] = await hostile.poll();
    expect(told.slice(0, 2)).to.equal('44');
    expect(JSON.parse(told.slice(2)).data).to.include(TOO_MUCH);
    expect(await hostile.poll(), 'closed').to.include('1');
    expect(parsed() - atFirst).to.equal(0);
    expect(await hostile.post(['40{"token":"member-7"}'])).to.equal(400);
  });

  it('as a member by long-polling is told and closed; requests cost as much as packets', async () => {
    for (const bodies of [[times('42["nonsense"]', 5_000)], Array.from({ length: 101 }, () => ['3'])]) {
      await start({ SOCKET_FRAMES: '100' });
      const hostile = await rawPolling(lone.base);
      await hostile.post(['40{"token":"member-7"}']);
      expect((await hostile.poll())[0]).to.match(/^40/);
      const atFirst = parsed();
      const heard = hostile.poll();
      for (const body of bodies) await hostile.post(body);
      expect((await heard)[0]).to.match(/^42\["closing",\{"code":"TOO_MANY_FRAMES"/);
      expect(parsed() - atFirst).to.equal(0);
      expect(lone.io.of('/').sockets.size).to.equal(0);
      mock.restoreAll();
      await stopGateways();
    }
  });

  it('pays for requests of a session without packets, too', async () => {
    await start({ SOCKET_FRAMES: '100' });
    const hostile = await rawPolling(lone.base);
    await hostile.post(['40{"token":"member-7"}']);
    await hostile.poll();
    const heard = hostile.poll();
    for (let i = 0; i < 100; i += 1) {
      const { status } = await fetch(`${hostile.url}&transport=none`);
      expect(status).to.equal(400);
    }
    expect((await heard)[0]).to.match(/^42\["closing",\{"code":"TOO_MANY_FRAMES"/);
  });

  it('on a WebSocket to upgrade to pays with the frames of its connection, and so does every attempt', async () => {
    for (const [attempts, probes] of [
      [1, FLOOD],
      [60, 1],
    ] as const) {
      await start({ SOCKET_FRAMES: '100' });
      const live = await rawPolling(lone.base);
      await live.post(['40{"token":"member-7"}']);
      await live.poll();
      // Engine.IO answers a poll with 6 during an upgrade that takes longer than 100 ms.
      const told = async (): Promise<string> => {
        const packets = (await live.poll()).join();
        return packets === '6' ? told() : packets;
      };
      const heard = told();
      let answered = 0;
      for (let i = 0; i < attempts; i += 1) {
        const hostile = await raw(new URL(live.url).search.slice(1).replace('polling', 'websocket'));
        flood(hostile, times('2probe', probes));
        if (probes === 1) await Promise.race([hostile.next(/3probe/), hostile.closed, heard]);
        hostile.socket.end();
        await hostile.closed;
        answered += hostile.heard.filter((text) => text === '3probe').length;
      }
      expect(await heard).to.include('TOO_MANY_FRAMES');
      expect(answered).to.be.at.most(100 / (1 + 1 / probes));
      mock.restoreAll();
      await stopGateways();
    }
  });

  it('as a member has no new budget by reconnecting, nor by further connections', async () => {
    await start({ SOCKET_FRAMES: '100' });
    const other = await connect({ token: 'member-8' }, {}, lone.base);
    const first = await admitted();
    flood(first, times('420["room:join",{"chatNo":1}]', 90));
    await first.next(/^430/);
    first.socket.destroy();
    await eventually(() => expect(lone.io.of('/').sockets.size).to.equal(1));
    const [second, third] = [await admitted(), await admitted()];
    flood(second, times('42["nonsense"]', 11));
    await second.next(/TOO_MANY_FRAMES/);
    third.send('42["nonsense"]');
    await third.next(/TOO_MANY_FRAMES/);
    await Promise.all([second.closed, third.closed]);
    expect(await other.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
  });

  it('on connections that are not admitted, all of one address, is closed', async () => {
    await start({ SOCKET_HANDSHAKES: '10' });
    const member = await connect({ token: 'member-8' }, {}, lone.base);
    const made = await Promise.all(Array.from({ length: 9 }, () => raw()));
    for (const socket of made) flood(socket, times('40{"token":"x"}', 9));
    await Promise.all(made.slice(5).map((socket) => socket.next(/RATE_LIMITED/)));
    // On ws, frames that arrive together are refused together.
    expect(parsed()).to.be.within(41, 50);
    expect(await member.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
  });
});

describe('a connection that sends what a member may', () => {
  let lone: LoneGateway;
  afterEach(async () => {
    mock.timers.reset();
    await stopGateways();
  });

  /** As fast as it can. */
  async function joinOften(client: Awaited<ReturnType<typeof connect>>, count: number): Promise<void> {
    const answers = await Promise.all(
      Array.from({ length: count }, () => client.ask('room:join', { chatNo: 1 })),
    );
    expect(answers.every(({ status }) => status === 200)).to.equal(true);
  }

  it('stays open: all that the budgets of events allow, and as much again', async () => {
    lone = await startGateway();
    for (const transport of ['websocket', 'polling']) {
      const client = await connect({ token: 'member-7' }, { transports: [transport] }, lone.base);
      await joinOften(client, 900);
      expect(client.socket.connected, transport).to.equal(true);
    }
  });

  it('stays open with the longest messages in the widest script, as many as their budget allows', async () => {
    lone = await startGateway();
    const client = await connect({ token: 'member-7' }, {}, lone.base);
    const content = '한'.repeat(5_000);
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.ask('nonsense', { content })));
    expect(answers.every(({ message }) => message === 'UNKNOWN_EVENT')).to.equal(true);
    expect(client.socket.connected).to.equal(true);
  });

  it('keeps its budget when it upgrades', async () => {
    lone = await startGateway();
    const client = await connect(
      { token: 'member-7' },
      { transports: ['polling', 'websocket'], upgrade: true },
      lone.base,
    );
    await eventually(() => expect(client.socket.io.engine.transport.name).to.equal('websocket'));
    await joinOften(client, 900);
    expect(client.socket.connected).to.equal(true);
    client.socket.io.engine.transport.close();
    await eventually(() => expect(lone.io.engine.clientsCount).to.equal(0));
  });

  it('has its budget anew every ten seconds', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    lone = await startGateway({ SOCKET_FRAMES: '100' });
    const client = await connect({ token: 'member-7' }, {}, lone.base);
    await joinOften(client, 90);
    mock.timers.tick(10_000);
    await joinOften(client, 90);
    expect(client.socket.connected).to.equal(true);
    const closing = client.next('closing');
    client.socket.emit('nonsense');
    for (let i = 0; i < 10; i += 1) client.socket.emit('nonsense');
    expect(await closing).to.include({ code: 'TOO_MANY_FRAMES' });
  });

  it('has no budget with RATE_LIMIT=off', async () => {
    lone = await startGateway({ RATE_LIMIT: 'off', SOCKET_FRAMES: '100', SOCKET_HANDSHAKES: '10' });
    const client = await connect({ token: 'member-7' }, {}, lone.base);
    await joinOften(client, 500);
    for (let i = 0; i < 20; i += 1)
      expect((await fetch(`${lone.base}/socket.io/?EIO=4&transport=polling`)).status).to.equal(200);
  });
});
