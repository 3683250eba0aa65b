import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { pino } from 'pino';
import type { Domain } from '../../domain/domain.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { RequestLog } from '../../domain/platform/observe/request-log.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { createConnectionHandler } from '../../gateway/connection/connection.js';
import { armExpiry, watchExpiries } from '../../gateway/connection/session-expiry.js';
import type { GatewaySocket } from '../../gateway/connection/socket.js';
import { authRefresh } from '../../gateway/events/auth-refresh.js';
import type { HandlerContext, HandlerServices } from '../../gateway/events/handle.js';
import { ConnectionLimits } from '../../gateway/limits/connection-limits.js';
import { counted } from '../support/counted.js';
import { nextTurn } from '../support/eventually.js';

const HOUR = 3_600_000;

/** A namespace without a network: its connections and their rooms. */
function fakeNamespace(limits: 'on' | 'off' = 'on', logged: 'off' | 'errors' = 'off', lines: string[] = []) {
  const sockets = new Map<string, GatewaySocket>();
  const rooms = new Map<string, Set<string>>();
  const nsp = { sockets, adapter: { rooms } };
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(line.trim()) });
  const admit = createConnectionHandler(
    { logger, requests: new RequestLog(logger, logged) } as HandlerServices,
    { prepare() {} },
    limits === 'on' ? new ConnectionLimits(loadConfig({}, '/nonexistent')) : undefined,
  );

  /** A connection that records what it receives. */
  function connect(expiresAt = Date.now() + HOUR, no = 7) {
    const told: string[] = [];
    const id = `socket ${sockets.size}`;
    /** Calls its listeners. */
    const events = {
      emit: (...event: [name: string, value: unknown]) => EventEmitter.prototype.emit.apply(socket, event),
    };
    const socket = {
      ...{ id, nsp, connected: true, rooms: new Set<string>(), handshake: { auth: { token: 'a token' } } },
      data: { session: { actor: { no }, expiresAt }, expiry: undefined, queue: undefined },
      conn: { close: () => told.push('closed'), transport: { name: 'websocket' }, cleanupFn: [] },
      client: { decoder: { _callbacks: { $decoded: [] } } },
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
    admit(socket as unknown as GatewaySocket);
    return { socket: socket as unknown as GatewaySocket, told, events };
  }

  return { sockets, connect };
}

const open = () => counted(metrics.sockets);
const closed = (reason: string) => counted(metrics.socketsClosed, { reason });

describe('the connection handler of a gateway', () => {
  it('closes none of fifty connections of one member, and none of sixty with limits off', () => {
    const { connect } = fakeNamespace();
    const other = connect(HOUR, 8);
    const mine = Array.from({ length: 50 }, () => connect());
    expect([other, ...mine].every(({ told }) => told.length === 0)).to.equal(true);
    const unlimited = fakeNamespace('off');
    const all = Array.from({ length: 60 }, () => unlimited.connect());
    expect(all.every(({ told }) => told.length === 0)).to.equal(true);
  });

  it('logs packets that cannot be read as it logs requests, without a stack', () => {
    for (const [logged, expected] of [
      ['off', []],
      [
        'errors',
        [
          '{"level":30,"socket":"socket 0","event":"error","reason":"invalid payload","member":7,"msg":"request"}',
        ],
      ],
    ] as const) {
      const lines: string[] = [];
      fakeNamespace('on', logged, lines).connect().events.emit('error', new Error('invalid payload'));
      expect(lines).to.deep.equal(expected);
    }
  });

  it('counts open connections, and closed ones by reason', async () => {
    const { connect } = fakeNamespace();
    const reasons = ['transport close', 'client namespace disconnect', 'server namespace disconnect'];
    const counts = async () => [
      await open(),
      ...(await Promise.all(['transport', 'client', 'namespace'].map(closed))),
    ];
    const before = await counts();
    const all = reasons.map(() => connect());
    expect(await open()).to.equal((before[0] as number) + 3);
    for (const [i, { events }] of all.entries()) events.emit('disconnect', reasons[i]);
    expect(await counts()).to.deep.equal(before.map((count, i) => count + (i > 0 ? 1 : 0)));
    // After leaving only the namespace, a WebSocket would still receive events.
    expect(all.map(({ told }) => told)).to.deep.equal([[], ['closed'], ['closed']]);
  });

  it('11: closes the oldest connections of a member beyond fifty, also when all are opened at once', async () => {
    const { connect, sockets } = fakeNamespace();
    const all = Array.from({ length: 52 }, () => connect());
    const closing = ['closing TOO_MANY_CONNECTIONS'];
    expect(all.slice(0, 3).map(({ told }) => told)).to.deep.equal([closing, closing, []]);
    await nextTurn();
    expect(sockets.size).to.equal(50);
    expect(all.slice(2).every(({ told }) => told.length === 0)).to.equal(true);
  });

  describe('for tokens that expire', () => {
    let stop = () => {};
    beforeEach(() => mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'setImmediate', 'Date'] }));
    afterEach(() => {
      stop();
      mock.timers.reset();
    });

    /** Advances in steps: `tick` runs due timers only at its end. */
    function pass(seconds: number): void {
      for (let i = 0; i < seconds; i += 1) mock.timers.tick(1_000);
    }

    it('warns a minute before a token expires, and closes when it does, to the second', () => {
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

    /** Lifetimes, s, whose warning is due before the next scan: these connections get a timer at once. */
    const TIMED = [0, 30, 60, 75, 80];
    for (const seconds of [...TIMED, 81, 119, 255]) {
      it(`warns and closes in time with a token that expires in ${seconds} s`, async () => {
        const before = await closed('expired');
        const { connect, sockets } = fakeNamespace();
        stop = watchExpiries(sockets);
        const { told, socket } = connect(seconds * 1_000);
        expect(socket.data.expiry !== undefined, 'has a timer').to.equal(TIMED.includes(seconds));
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
        expect(await closed('expired')).to.equal(before + 1);
      });
    }

    it('sends nothing to a closed connection, and keeps no timer for it', () => {
      const { connect, sockets } = fakeNamespace();
      stop = watchExpiries(sockets);
      const { told, socket, events } = connect(70_000);
      events.emit('disconnect', 'transport close');
      sockets.clear();
      expect(socket.data.expiry).to.equal(undefined);
      pass(100);
      expect(told).to.deep.equal([]);
    });

    it('keeps no timer for a connection that closes while its new token is verified', async () => {
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

    it('warns nobody after the scans have been stopped', () => {
      const { connect, sockets } = fakeNamespace();
      stop = watchExpiries(sockets);
      const { told } = connect(100_000);
      stop();
      pass(200);
      expect(told).to.deep.equal([]);
    });

    it('keeps a connection open with a new token, also after the warning', () => {
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
