import { connect as connectTcp } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { AppError } from '../../domain/kernel/errors.js';
import type { NotificationView } from '../../domain/kernel/live.js';
import { eventually } from '../support/eventually.js';
import { type RawSocket, rawSocket } from '../support/raw-socket.js';
import { connect, refusal } from '../support/sockets.js';
import { type LoneGateway, startGateway, stopGateways } from './gateway-alone.js';
import { settled } from './sequenced-room.js';

const member = (no: number) => ({ token: `member-${no}` });

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('a gateway', () => {
  let lone: LoneGateway;
  const opened: { close(): void }[] = [];
  afterEach(async () => {
    mock.reset();
    for (const one of opened.splice(0)) one.close();
    await stopGateways();
  });

  const client = (no: number, options = {}) => connect(member(no), options, lone.base);

  async function raw(headers: string[] = []): Promise<RawSocket> {
    const socket = await rawSocket(lone.base, undefined, headers);
    opened.push({ close: () => socket.socket.destroy() });
    return socket;
  }

  it('tells its time-outs and its largest frame at first', async () => {
    lone = await startGateway();
    const { heard } = await raw();
    await eventually(() => expect(heard).to.have.length(1));
    const opening = JSON.parse(heard[0]?.slice(1) as string) as object;
    expect(opening).to.deep.include({
      ...{ pingInterval: 20_000, pingTimeout: 10_000, maxPayload: 131_072, upgrades: [] },
    });
  });

  it('has two sorts of transport alone or behind a sticky proxy, WebSockets alone otherwise', async () => {
    const cases: [settings: Record<string, string>, joined: boolean, status: number][] = [
      [{}, false, 200],
      [{ GATEWAY_STICKY: 'on' }, true, 200],
      [{}, true, 400],
    ];
    for (const [settings, joined, status] of cases) {
      lone = await startGateway(settings, joined);
      const answer = await fetch(`${lone.base}/socket.io/?EIO=4&transport=polling`);
      expect(answer.status, JSON.stringify([settings, joined])).to.equal(status);
      await client(7);
      await stopGateways();
    }
  });

  it('lets pages send their cookies along where their origins are named, not where all may come', async () => {
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

  describe('lets connections in', () => {
    it('within the limit of their address, looked at before their token', async () => {
      lone = await startGateway();
      await client(7);
      expect(lone.log.slice(0, 2)).to.deep.equal([
        ['connect', '127.0.0.1'],
        ['authenticate', 'member-7'],
      ]);
      lone.log.length = 0;
      lone.domain.rateLimits.take = async () => {
        throw new AppError('RATE_LIMITED', 'too many', { retryAfterMs: 700 });
      };
      const { message, data } = await refusal({ auth: member(7) }, lone.base);
      expect([message, data]).to.deep.equal([
        'RATE_LIMITED',
        { status: 429, message: 'RATE_LIMITED', errors: ['too many'] },
      ]);
      expect(lone.log).to.deep.equal([]);
    });

    it('by auth.token, else by the Authorization header, and says what is wrong with either', async () => {
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

    it('and remembers the client of a member by address and program, not behind a foreign proxy', async () => {
      lone = await startGateway();
      const extraHeaders = { 'User-Agent': 'an app' };
      await client(7, { extraHeaders });
      await client(8, { extraHeaders: { ...extraHeaders, 'X-Forwarded-For': '203.0.113.9' } });
      expect(lone.log.filter(([what]) => what === 'seen')).to.deep.equal([
        ['seen', { address: '127.0.0.1', userAgent: 'an app' }, 7],
      ]);
    });

    it('that were refused and ask again, as the client that they were', async () => {
      lone = await startGateway({ TRUST_PROXY: '1' });
      const asking = await raw(['User-Agent: an app', 'X-Forwarded-For: 198.51.100.1, 203.0.113.9']);
      asking.send('40{"token":"nonsense"}');
      await eventually(() => expect(asking.heard.at(-1)).to.match(/^44/));
      asking.send('40{"token":"member-7"}');
      await eventually(() => expect(asking.heard.at(-1)).to.match(/^40/));
      expect(lone.log).to.deep.equal([
        ['connect', '203.0.113.9'],
        ['authenticate', 'nonsense'],
        ['connect', '203.0.113.9'],
        ['authenticate', 'member-7'],
        ['seen', { address: '203.0.113.9', userAgent: 'an app' }, 7],
      ]);
    });
  });

  describe('reaches', () => {
    it('the sockets of a room, of a member, and nobody else', async () => {
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
      live.notificationHere(7, notice(2));
      live.notificationHere(9, notice(3));
      // What comes last has everything before it.
      live.notification(7, notice(4));
      live.notification(8, notice(5));
      const notified = (heard: { id: number }[]) => heard.map(({ id }) => id);
      for (const [one, ids] of [
        [inside, [1, 2, 4]],
        [outside, [1, 2, 4]],
        [other, [5]],
      ] as const) {
        await one.next<{ id: number }>('notification', ({ id }) => id === ids.at(-1));
        expect(notified(one.heard('notification'))).to.deep.equal(ids);
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
    });

    it('a connection to take it out of a room, whose presence ends with it', async () => {
      lone = await startGateway();
      const { live } = lone.gateway;
      const { socket, ask } = await client(7);
      await ask('room:join', { chatNo: 1 });
      live.removeFromRoom(1, socket.id as string);
      await eventually(() => expect(live.isInRoom(1, socket.id as string)).to.equal(false));
      expect(lone.log.filter(([what]) => what === 'left')).to.deep.equal([['left', 7, 1]]);
    });
  });

  it('ends presence before a connection leaves its room: nothing counts as read that is not delivered', async () => {
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

  it('lets nobody into a room who has closed meanwhile: they would stay in it for ever', async () => {
    lone = await startGateway();
    const { adapter, sockets } = lone.io.of('/');
    let admit = () => {};
    const asked = new Promise<void>((resolve) => {
      lone.domain.chat.requireParticipant = () => {
        resolve();
        return new Promise((done) => {
          admit = done;
        });
      };
    });
    const entering = mock.method(lone.domain.chat, 'enterRoom');
    const { socket } = await client(7);
    socket.emit('room:join', { chatNo: 1 });
    await asked;
    socket.disconnect();
    await eventually(() => expect(sockets.size).to.equal(0));
    admit();
    await settled();
    expect(entering.mock.callCount()).to.equal(0);
    expect([...adapter.rooms.keys()]).to.deep.equal([]);
  });

  describe('answers operators', () => {
    it('whether it is up and ready, and why not', async () => {
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

    it('and hands out no client library', async () => {
      lone = await startGateway();
      expect((await fetch(`${lone.base}/socket.io/socket.io.js`)).status).to.equal(404);
    });

    it('nothing once they have gone, and goes on', async () => {
      lone = await startGateway();
      let answer = () => {};
      const asked = new Promise<void>((resolve) => {
        lone.probe = () => {
          resolve();
          return new Promise((done) => {
            answer = done;
          });
        };
      });
      const gone = connectTcp(lone.port, '127.0.0.1');
      gone.write(get('/readyz'));
      await asked;
      gone.destroy();
      await settled();
      lone.probe = async () => {};
      // Answered behind the end of the connection, which the service has seen by then.
      expect((await fetch(`${lone.base}/readyz`)).status).to.equal(200);
      answer();
      await settled();
      expect((await fetch(`${lone.base}/healthz`)).status).to.equal(200);
    });
  });
});
