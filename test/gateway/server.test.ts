import { mock } from 'node:test';
import { expect } from 'chai';
import { clientHash } from '../../domain/kernel/client.js';
import { AppError } from '../../domain/kernel/errors.js';
import type { NotificationView } from '../../domain/kernel/live.js';
import { eventually, gate } from '../support/eventually.js';
import { rawConnection, rawGet } from '../support/raw-connection.js';
import { type RawSocket, rawSocket } from '../support/raw-socket.js';
import { connect, refusal } from '../support/sockets.js';
import { type LoneGateway, startGateway, stopGateways } from './gateway-alone.js';
import { settled } from './order/sequenced-room.js';

const member = (no: number) => ({ token: `member-${no}` });

/** Of a client by its address. */
const hashOf = (address: string) => clientHash({ address, userAgent: 'an app' });

describe('a gateway', () => {
  let lone: LoneGateway;
  const opened: RawSocket[] = [];
  afterEach(async () => {
    mock.reset();
    for (const { socket } of opened.splice(0)) socket.destroy();
    await stopGateways();
  });

  const client = (no: number, options = {}) => connect(member(no), options, lone.base);

  async function raw(headers: string[] = []): Promise<RawSocket> {
    const socket = await rawSocket(lone.base, undefined, headers);
    opened.push(socket);
    return socket;
  }

  it('sends its time-outs and largest frame size first', async () => {
    lone = await startGateway();
    const { heard } = await raw();
    await eventually(() => expect(heard).to.have.length(1));
    const opening = JSON.parse(heard[0]?.slice(1) as string) as object;
    expect(opening).to.deep.include({
      ...{ pingInterval: 20_000, pingTimeout: 10_000, maxPayload: 131_072, upgrades: [] },
    });
  });

  it('does not show the metrics of other processes on the port of clients', async () => {
    lone = await startGateway();
    const answer = await (await fetch(`${lone.base}/metrics/cluster`)).text();
    expect(answer).to.include('no such path: /metrics/cluster');
  });

  it('counts whatever an address asks, and refuses more than five times its connects', async () => {
    const page = { Origin: 'http://localhost', 'Access-Control-Request-Method': 'GET' };
    for (const [path, method] of [
      ['/healthz', 'GET'],
      ['/metrics', 'GET'],
      ['/nowhere', 'GET'],
      ['/socket.io/?EIO=4&transport=polling', 'OPTIONS'],
    ]) {
      lone = await startGateway({ SOCKET_HANDSHAKES: '10' });
      const ask = async () => {
        const answer = await fetch(`${lone.base}${path}`, { method, headers: page });
        await answer.arrayBuffer();
        return [answer.status, answer.headers.has('retry-after')];
      };
      for (let i = 0; i < 50; i += 1) expect((await ask())[0], path).to.not.equal(429);
      expect(await ask(), path).to.deep.equal([429, true]);
      await stopGateways();
    }
  });

  it('3: offers long-polling if it is the only process or behind a sticky proxy, else refuses it and keeps nothing', async () => {
    const cases: [settings: Record<string, string>, joined: boolean, isOffered: boolean][] = [
      [{}, false, true],
      [{ GATEWAY_STICKY: 'on' }, true, true],
      [{}, true, false],
    ];
    for (const [settings, joined, isOffered] of cases) {
      lone = await startGateway(settings, joined);
      const answer = await fetch(`${lone.base}/socket.io/?EIO=4&transport=polling`);
      const told = await answer.text();
      expect(answer.status, JSON.stringify([settings, joined])).to.equal(isOffered ? 200 : 400);
      if (!isOffered) expect(JSON.parse(told)).to.deep.equal({ code: 0, message: 'Transport unknown' });
      expect(lone.io.engine.clientsCount).to.equal(isOffered ? 1 : 0);
      await client(7);
      await stopGateways();
    }
  });

  it('allows cookies of pages whose origins are named, and none with `*`', async () => {
    for (const [CORS_ORIGINS, credentials] of [
      ['https://app.example.org', 'true'],
      ['*', null],
    ] as const) {
      lone = await startGateway({ CORS_ORIGINS });
      const { headers } = await fetch(`${lone.base}/socket.io/?EIO=4&transport=polling`, {
        headers: { Origin: 'https://app.example.org' },
      });
      expect(headers.get('access-control-allow-credentials'), CORS_ORIGINS).to.equal(credentials);
      await stopGateways();
    }
  });

  describe('on a connect', () => {
    it('reads the token from auth.token, else from the Authorization header, and names what is wrong', async () => {
      lone = await startGateway();
      const header = { extraHeaders: { Authorization: 'Bearer member-8' } };
      await connect(member(7), header, lone.base);
      await connect({ token: undefined as never }, header, lone.base);
      expect(lone.log.filter(([what]) => what === 'authenticate')).to.deep.equal([
        ['authenticate', 'member-7'],
        ['authenticate', 'member-8'],
      ]);
      for (const [auth, text] of [
        [{ token: 7 }, 'auth.token: must be text'],
        [{ token: null }, 'auth.token: must be text'],
        [{ token: '' }, 'auth.token: is missing'],
        [{}, 'auth.token: is missing'],
      ] as const) {
        const { data } = await refusal({ auth }, lone.base);
        expect(data, text).to.deep.equal({ status: 401, message: 'UNAUTHORIZED', errors: [text] });
      }
    });

    it('remembers a member’s client by address and User-Agent, unless an untrusted proxy forwards it', async () => {
      lone = await startGateway();
      const extraHeaders = { 'User-Agent': 'an app' };
      await client(7, { extraHeaders });
      await client(8, { extraHeaders: { ...extraHeaders, 'X-Forwarded-For': '203.0.113.9' } });
      expect(lone.log.filter(([what]) => what === 'seen')).to.deep.equal([
        ['seen', hashOf('127.0.0.1'), 7],
        ['seen', undefined, 8],
      ]);
    });

    it('knows the client’s address and User-Agent also when it connects again after a refusal', async () => {
      lone = await startGateway({ TRUST_PROXY: '1' });
      const asking = await raw(['User-Agent: an app', 'X-Forwarded-For: 198.51.100.1, 203.0.113.9']);
      asking.send('40{"token":"nonsense"}');
      await eventually(() => expect(asking.heard.at(-1)).to.match(/^44/));
      asking.send('40{"token":"member-7"}');
      await eventually(() => expect(asking.heard.at(-1)).to.match(/^40/));
      expect(lone.log).to.deep.equal([
        ['authenticate', 'nonsense'],
        ['authenticate', 'member-7'],
        ['seen', hashOf('203.0.113.9'), 7],
      ]);
    });
  });

  describe('as the live port', () => {
    it('reaches the sockets of a room or a member, and nobody else', async () => {
      lone = await startGateway();
      const { live } = lone.gateway;
      const [inside, outside, other] = [await client(7), await client(7), await client(8)];
      for (const one of [inside, other])
        expect(await one.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
      await outside.ask('room:join', { chatNo: 2 });
      const notice = (id: number): NotificationView => ({
        ...{ id, type: 'comment', content: 'x', url: '/board/1', publishedAt: [2022, 8, 1, 12, 34, 56] },
        ...{ name: 'Minji', checked: false, del: false },
      });
      const told: unknown[][] = [];
      inside.socket.onAny((...event) => told.push(event));
      live.typing(1, 8, true);
      live.presenceHere(1, 9, true);
      live.notification(7, notice(1));
      live.notificationHere(7, notice(2), JSON.stringify(notice(2)));
      live.notificationHere(9, notice(3), JSON.stringify(notice(3)));
      // When the last event has arrived, so have all before it.
      live.notification(7, notice(4));
      live.notification(8, notice(5));
      for (const [one, ids] of [
        [inside, [1, 2, 4]],
        [outside, [1, 2, 4]],
        [other, [5]],
      ] as const) {
        await one.next<{ id: number }>('notification', ({ id }) => id === ids.at(-1));
        expect(one.heard('notification')).to.deep.equal(ids.map(notice));
        expect(one.heard('typing'), 'in the room').to.have.length(one === outside ? 0 : 1);
        expect(one.heard('presence'), 'in the room').to.have.length(one === outside ? 0 : 1);
      }
      expect(
        told.every(({ length }) => length === 2),
        'a name and a payload',
      ).to.equal(true);
      expect(live.isInRoom(1, inside.socket.id as string)).to.equal(true);
      expect(live.isInRoom(1, outside.socket.id as string)).to.equal(false);
      expect(live.isInRoom(3, inside.socket.id as string)).to.equal(false);
      expect([live.connectionsIn(1), live.connectionsIn(3)]).to.deep.equal([2, 0]);
    });

    it('removes a connection from a room, and ends its presence', async () => {
      lone = await startGateway();
      const { live } = lone.gateway;
      const { socket, ask } = await client(7);
      await ask('room:join', { chatNo: 1 });
      live.removeFromRoom(1, socket.id as string);
      await eventually(() => expect(live.isInRoom(1, socket.id as string)).to.equal(false));
      expect(lone.log.filter(([what]) => what === 'left')).to.deep.equal([['left', 7, 1]]);
    });
  });

  it('ends presence before a connection leaves its room: nothing undelivered counts as read', async () => {
    lone = await startGateway();
    const { socket, ask } = await client(7);
    await ask('room:join', { chatNo: 1 });
    const isIn = () => lone.gateway.live.isInRoom(1, socket.id as string);
    const inRoom: boolean[] = [];
    lone.domain.chat.leaveRoom = async () => {
      inRoom.push(isIn());
      await settled();
      inRoom.push(isIn());
    };
    expect(await ask('room:leave', { chatNo: 1 })).to.deep.equal({ status: 200 });
    expect(inRoom.slice(0, 2)).to.deep.equal([true, true]);
    expect(isIn()).to.equal(false);
  });

  it('keeps a connection out of a room if it closes during the join: it would stay there for ever', async () => {
    lone = await startGateway();
    const { adapter, sockets } = lone.io.of('/');
    const [asked, admitted] = [gate(), gate()];
    lone.domain.chat.requireParticipant = () => {
      asked.open();
      return admitted.opened;
    };
    const entering = mock.method(lone.domain.chat, 'enterRoom');
    const { socket } = await client(7);
    socket.emit('room:join', { chatNo: 1 });
    await asked.opened;
    socket.disconnect();
    await eventually(() => expect(sockets.size).to.equal(0));
    admitted.open();
    await settled();
    expect(entering.mock.callCount()).to.equal(0);
    expect([...adapter.rooms.keys()]).to.deep.equal([]);
  });

  describe('over HTTP', () => {
    it('answers whether it is up and ready, and why not', async () => {
      lone = await startGateway();
      const ask = async (path: string) => {
        const answer = await fetch(lone.base + path);
        return [
          ...[answer.status, answer.statusText, answer.headers.get('content-type')],
          ...[answer.headers.get('retry-after'), await answer.json()],
        ];
      };
      const json = 'application/json;charset=UTF-8';
      expect(await ask('/healthz')).to.deep.equal([200, 'OK', json, null, { up: true }]);
      expect(await ask('/readyz')).to.deep.equal([200, 'OK', json, null, { ready: true }]);
      lone.probe = async () => {
        throw new AppError('SERVICE_UNAVAILABLE', 'the database is away');
      };
      const away = { status: 503, message: 'SERVICE_UNAVAILABLE', errors: ['the database is away'] };
      expect(await ask('/readyz')).to.deep.equal([503, 'Service Unavailable', json, '1', away]);
      expect(await ask('/healthz')).to.include.members([200]);
      const [status, , , , body] = await ask(`/${'x'.repeat(300)}`);
      expect(status).to.equal(404);
      expect(body).to.deep.equal({
        ...{ status: 404, message: 'NOT_FOUND' },
        errors: [`no such path: /${'x'.repeat(199)}; sockets connect to /socket.io/`],
      });
    });

    it('serves no client library', async () => {
      lone = await startGateway();
      expect((await fetch(`${lone.base}/socket.io/socket.io.js`)).status).to.equal(404);
    });

    it('continues when a caller disconnects before the answer', async () => {
      lone = await startGateway();
      const [asked, answered] = [gate(), gate()];
      lone.probe = () => {
        asked.open();
        return answered.opened;
      };
      const { socket } = rawConnection(lone.base, rawGet('/readyz'));
      await asked.opened;
      socket.destroy();
      await settled();
      lone.probe = async () => {};
      // When this is answered, the service has seen the end of the other connection.
      expect((await fetch(`${lone.base}/readyz`)).status).to.equal(200);
      answered.open();
      await settled();
      expect((await fetch(`${lone.base}/healthz`)).status).to.equal(200);
    });
  });
});
