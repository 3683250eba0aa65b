import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { Domain } from '../../domain/domain.js';
import { createLogger } from '../../domain/platform/logger.js';
import { metrics } from '../../domain/platform/metrics.js';
import { createConnectionHandler } from '../../gateway/connection.js';
import { authRefresh } from '../../gateway/events/auth-refresh.js';
import type { HandlerContext, HandlerServices } from '../../gateway/handle.js';
import { armExpiry, watchExpiries } from '../../gateway/session-expiry.js';
import type { GatewaySocket } from '../../gateway/socket.js';
import type { Publisher } from '../../gateway/socketio-internals.js';

const HOUR = 3_600_000;

/** A namespace without a network: its connections, and which rooms they are in. */
function fakeNamespace(limits: 'on' | 'off' = 'on') {
  const sockets = new Map<string, GatewaySocket>();
  const rooms = new Map<string, Set<string>>();
  const nsp = { sockets, adapter: { rooms } };
  const logger = createLogger('silent', 'test');
  const letIn = createConnectionHandler({ logger } as HandlerServices, {} as Publisher, {
    RATE_LIMIT: limits,
  });

  /** A connection that keeps what it is told. */
  function connect(expiresAt = Date.now() + HOUR, no = 7) {
    const told: string[] = [];
    const id = `socket ${sockets.size}`;
    const events = new EventEmitter();
    const socket = {
      ...{ id, nsp, connected: true, rooms: new Set<string>(), handshake: { auth: { token: 'a token' } } },
      data: { session: { actor: { no }, expiresAt }, expiry: undefined, queue: undefined },
      on: (event: string, listener: () => void) => events.on(event, listener.bind(socket)),
      onAny() {},
      conn: { close: () => told.push('closed') },
      emit: (event: string, { code = '' }: { code?: string }) => told.push(`${event} ${code}`.trim()),
      join: (room: string) => rooms.set(room, (rooms.get(room) ?? new Set()).add(id)),
      leave: (room: string) => rooms.get(room)?.delete(id),
      disconnect() {
        told.push('disconnected');
        sockets.delete(id);
        socket.connected = false;
        events.emit('disconnect', 'server namespace disconnect');
      },
    };
    sockets.set(id, socket as unknown as GatewaySocket);
    letIn(socket as unknown as GatewaySocket);
    return { socket: socket as unknown as GatewaySocket, told, events };
  }

  return { sockets, connect };
}

const open = async () => (await metrics.sockets.get()).values[0]?.value ?? 0;
const closed = async (reason: string) =>
  (await metrics.socketsClosed.get()).values.find(({ labels }) => labels.reason === reason)?.value ?? 0;

describe('connections of a gateway', () => {
  it('give way to those of their own member alone, and to none where limits are off', () => {
    const { connect } = fakeNamespace();
    const other = connect(HOUR, 8);
    const mine = Array.from({ length: 50 }, () => connect());
    expect([other, ...mine].every(({ told }) => told.length === 0)).to.equal(true);
    const unlimited = fakeNamespace('off');
    const all = Array.from({ length: 60 }, () => unlimited.connect());
    expect(all.every(({ told }) => told.length === 0)).to.equal(true);
  });

  it('are counted while they are open, and by the reason of their end', async () => {
    const { connect } = fakeNamespace();
    const reasons = ['transport close', 'client namespace disconnect', 'server namespace disconnect'];
    const before = [await open(), ...(await Promise.all(reasons.map(closed)))];
    const all = reasons.map(() => connect());
    expect(await open()).to.equal((before[0] as number) + 3);
    for (const [i, { events }] of all.entries()) events.emit('disconnect', reasons[i]);
    expect([await open(), ...(await Promise.all(reasons.map(closed)))]).to.deep.equal(
      before.map((count, i) => count + (i > 0 ? 1 : 0)),
    );
    // Its WebSocket would go on receiving where only the namespace was left.
    expect(all.map(({ told }) => told)).to.deep.equal([[], ['closed'], ['closed']]);
  });

  it('of one member give way past the fiftieth, the oldest first, however fast they come', async () => {
    const { connect, sockets } = fakeNamespace();
    const all = Array.from({ length: 52 }, () => connect());
    const gaveWay = ['closing TOO_MANY_CONNECTIONS'];
    expect(all.slice(0, 3).map(({ told }) => told)).to.deep.equal([gaveWay, gaveWay, []]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sockets.size).to.equal(50);
    expect(all.slice(2).every(({ told }) => told.length === 0)).to.equal(true);
  });

  describe('in time', () => {
    let stop = () => {};
    beforeEach(() => mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'setImmediate', 'Date'] }));
    afterEach(() => {
      stop();
      mock.timers.reset();
    });

    /** In steps: mocked timers run at the end of the time they are moved by. */
    function pass(seconds: number): void {
      for (let i = 0; i < seconds; i += 1) mock.timers.tick(1_000);
    }

    it('are warned a minute before their token ends and closed when it has, to the second', () => {
      const { connect, sockets } = fakeNamespace();
      stop = watchExpiries(sockets);
      const { told, socket } = connect(HOUR);
      expect(socket.data.expiry, 'a timer').to.equal(undefined);
      pass(3_539);
      expect(told).to.deep.equal([]);
      pass(1);
      expect(told).to.deep.equal(['auth:expiring']);
      pass(59);
      expect(told).to.have.length(1);
      pass(1);
      mock.timers.tick(0);
      expect(told).to.deep.equal(['auth:expiring', 'closing TOKEN_EXPIRED', 'disconnected', 'closed']);
    });

    const soon: [seconds: number, isTimed: boolean][] = [
      [0, true],
      [30, true],
      [60, true],
      [75, true],
      [80, true],
      [81, false],
      [119, false],
      [255, false],
    ];
    for (const [seconds, isTimed] of soon) {
      it(`are warned and closed in time with a token that ends in ${seconds} s`, async () => {
        const before = await closed('TOKEN_EXPIRED');
        const { connect, sockets } = fakeNamespace();
        stop = watchExpiries(sockets);
        const { told, socket } = connect(seconds * 1_000);
        expect(socket.data.expiry !== undefined, 'a timer before the first look').to.equal(isTimed);
        if (seconds > 60) {
          pass(seconds - 61);
          expect(told).to.deep.equal([]);
          pass(1);
        } else mock.timers.tick(0);
        expect(told[0]).to.equal('auth:expiring');
        for (let left = Math.min(60, seconds); left > 0; left -= 1) {
          expect(told).to.have.length(1);
          pass(1);
        }
        mock.timers.tick(0);
        expect(told.slice(1, 3)).to.deep.equal(['closing TOKEN_EXPIRED', 'disconnected']);
        expect(await closed('TOKEN_EXPIRED')).to.equal(before + 1);
      });
    }

    it('are told nothing, and keep no timer, once they have gone', () => {
      const { connect, sockets } = fakeNamespace();
      stop = watchExpiries(sockets);
      const { told, socket, events } = connect(70_000);
      events.emit('disconnect', 'transport close');
      sockets.clear();
      expect(socket.data.expiry).to.equal(undefined);
      pass(100);
      expect(told).to.deep.equal([]);
    });

    it('keep no timer where they went while their new token was checked', async () => {
      const { connect } = fakeNamespace();
      const { socket } = connect(HOUR);
      const session = { actor: { no: 7 }, expiresAt: 70_000 };
      const domain = {
        members: {
          async authenticate() {
            socket.disconnect(true);
            return session;
          },
        },
      } as unknown as Domain;
      const context = { domain, socket, logger: createLogger('silent', 'test') } as HandlerContext;
      await authRefresh.handle(context, socket.data.session.actor, { token: 'a token' });
      expect(socket.data.expiry).to.equal(undefined);
    });

    it('are not looked at any more once that was ended', () => {
      const { connect, sockets } = fakeNamespace();
      stop = watchExpiries(sockets);
      const { told } = connect(100_000);
      stop();
      pass(200);
      expect(told).to.deep.equal([]);
    });

    it('go on with a new token, also once they were warned', () => {
      const { connect, sockets } = fakeNamespace();
      stop = watchExpiries(sockets);
      const { told, socket } = connect(HOUR);
      pass(3_550);
      expect(told).to.deep.equal(['auth:expiring']);
      Object.assign(socket.data.session, { expiresAt: 2 * HOUR });
      armExpiry(socket);
      pass(3_589);
      expect(told).to.have.length(1);
      pass(1);
      expect(told).to.deep.equal(['auth:expiring', 'auth:expiring']);
    });
  });
});
