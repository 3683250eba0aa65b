import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { Domain } from '../../domain/domain.js';
import type { Live } from '../../domain/kernel/live.js';
import type { Config } from '../../domain/platform/config.js';
import { createLogger } from '../../domain/platform/logger.js';
import { createConnectionHandler } from '../../gateway/connection.js';
import type { Sequencer } from '../../gateway/sequencer.js';
import { armExpiry, watchExpiries } from '../../gateway/session-expiry.js';
import type { GatewaySocket } from '../../gateway/socket.js';

const HOUR = 3_600_000;

/** A namespace without a network: its connections, and which rooms they are in. */
function fakeNamespace() {
  const sockets = new Map<string, GatewaySocket>();
  const rooms = new Map<string, Set<string>>();
  const nsp = { sockets, adapter: { rooms } };
  const logger = createLogger('silent', 'test');
  const letIn = createConnectionHandler(
    {} as Domain,
    {} as Live,
    {} as Sequencer,
    { RATE_LIMIT: 'on' } as Config,
    logger,
  );

  /** A connection that keeps what it is told. */
  function connect(expiresAt = Date.now() + HOUR) {
    const told: string[] = [];
    const id = `socket ${sockets.size}`;
    const events = new EventEmitter();
    const socket = {
      ...{ id, nsp, connected: true, rooms: new Set<string>(), handshake: { auth: { token: 'a token' } } },
      data: { session: { actor: { no: 7 }, expiresAt }, expiry: undefined, turn: undefined },
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
    return { socket: socket as unknown as GatewaySocket, told };
  }

  return { sockets, connect };
}

describe('connections of a gateway', () => {
  it('of one member give way past the fiftieth, the oldest first, however fast they come', async () => {
    const { connect, sockets } = fakeNamespace();
    const all = Array.from({ length: 52 }, () => connect());
    const gaveWay = ['closing TOO_MANY_CONNECTIONS'];
    expect(all.slice(0, 3).map(({ told }) => told)).to.deep.equal([gaveWay, gaveWay, []]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sockets.size).to.equal(50);
    expect(all.slice(2).every(({ told }) => told.length === 0)).to.equal(true);
  });

  it('that were let in do not keep their token', () => {
    const { socket } = fakeNamespace().connect();
    expect(JSON.stringify(socket.handshake)).not.to.include('a token');
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
