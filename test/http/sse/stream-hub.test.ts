import type { IncomingMessage, ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { Delivery, Notifications } from '../../../domain/notifications/index.js';
import { noteRestore } from '../../../domain/platform/cluster/restores.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import type { Stream } from '../../../http/sse/stream.js';
import { StreamHub } from '../../../http/sse/stream-hub.js';
import { counted } from '../../support/counted.js';
import { nextTurn } from '../../support/eventually.js';
import { memoryTaken } from '../../support/memory.js';
import { FakeNotifications, FakeResponse } from './fakes.js';

const notice = (n: number) => ({ memberNo: 7, n, publishedAt: 0, view: { id: n } }) as unknown as Delivery;

describe('the hub of event streams', () => {
  let hub: StreamHub;
  let source: FakeNotifications;

  beforeEach(() => {
    source = new FakeNotifications();
    mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'] });
    hub = new StreamHub(source as unknown as Notifications, createLogger('silent', 'test'), true);
  });
  afterEach(() => {
    void hub.close(0);
    mock.timers.tick(0);
    // Also forgets the mocks: a later `reset` in this process would restore the mocked timers.
    mock.reset();
  });

  function open(expiresAt = 3_600_000, memberNo = 7, res = new FakeResponse()): FakeResponse {
    const req = { socket: { destroyed: false } } as unknown as IncomingMessage;
    hub.open(req, res as unknown as ServerResponse, memberNo, expiresAt, 0);
    return res;
  }

  /** Advances in steps: `tick` runs due timers only at its end. */
  function pass(seconds: number): void {
    for (let i = 0; i < seconds; i += 1) mock.timers.tick(1_000);
  }

  it('sends a comment line every twenty seconds, and the time to reconnect', () => {
    const res = open();
    expect(res.text).to.equal('retry: 3000\nid: 7_0\nevent: sse\ndata: EventStream Created. [userId=7]\n\n');
    res.text = '';
    mock.timers.tick(19_999);
    expect(res.text).to.equal('');
    mock.timers.tick(40_001);
    expect(res.text).to.equal(': heartbeat\n\n'.repeat(3));
  });

  it('ends a stream when its token expires, to the second, however far off', () => {
    const [soon, later] = [open(5_000), open(100_500)];
    mock.timers.tick(4_999);
    expect(soon.isEnded).to.equal(false);
    mock.timers.tick(1);
    expect(soon.isEnded).to.equal(true);
    pass(95);
    expect(later.isEnded).to.equal(false);
    pass(1);
    expect(later.isEnded).to.equal(true);
    expect(open(1_000).isEnded, 'not before it has begun').to.equal(false);
    mock.timers.tick(1);
    expect(source.subscribed).to.equal(0);
  });

  it('writes each number once and in order, and reads the numbers of a gap', async () => {
    const written = (way: string) => counted(metrics.streamNotifications, { source: way });
    const all = async () => Promise.all(['replay', 'push', 'gap'].map(written));
    const before = await all();
    source.history.push(notice(1), notice(2));
    const res = open();
    await nextTurn();
    source.deliver(notice(2));
    await nextTurn();
    source.deliver(notice(3));
    source.deliver(notice(3));
    source.history.push(notice(3), notice(4), notice(5));
    source.deliver(notice(5));
    await nextTurn();
    source.deliver(notice(4));
    expect(res.numbers).to.deep.equal([1, 2, 3, 4, 5]);
    expect((await all()).map((count, i) => count - (before[i] ?? 0))).to.deep.equal([2, 1, 2]);
  });

  it('38: reads once its subscription stands, and holds back deliveries before and meanwhile', async () => {
    let stands = () => {};
    source.ready = new Promise((resolve) => {
      stands = resolve;
    });
    source.history.push(notice(1), notice(2));
    const res = open();
    source.deliver(notice(2));
    await nextTurn();
    expect([source.reads, res.numbers]).to.deep.equal([0, []]);
    stands();
    await Promise.resolve();
    source.history.push(notice(3));
    source.deliver(notice(3));
    source.deliver(notice(1));
    await nextTurn(2);
    expect(res.numbers).to.deep.equal([1, 2, 3]);
    source.deliver(notice(4));
    expect(res.numbers).to.deep.equal([1, 2, 3, 4]);
  });

  it('treats missing numbers as deleted, and reads nothing for numbers it has passed', async () => {
    source.history.push(notice(1), notice(2));
    const res = open();
    await nextTurn();
    source.deliver(notice(5));
    await nextTurn();
    const before = source.reads;
    for (const n of [1, 4, 5]) source.deliver(notice(n));
    await nextTurn();
    expect(source.reads).to.equal(before);
    source.deliver(notice(6));
    expect(res.numbers).to.deep.equal([1, 2, 6]);
  });

  it('reads no faster than its client, and stops when the client is gone', async () => {
    source.history.push(...[1, 2, 3, 4].map(notice));
    const res = open();
    const closeListeners = res.listenerCount('close');
    res.writableNeedDrain = true;
    for (const n of [1, 2, 3]) {
      await nextTurn(2);
      expect(res.numbers.at(-1)).to.equal(n);
      res.emit('drain');
    }
    await nextTurn();
    res.writableNeedDrain = false;
    res.emit('drain');
    await nextTurn();
    expect([res.listenerCount('drain'), res.listenerCount('close')]).to.deep.equal([0, closeListeners]);

    const goes = open();
    goes.writableNeedDrain = true;
    await nextTurn(2);
    const before = source.reads;
    goes.destroy();
    await nextTurn();
    expect([goes.numbers, source.reads]).to.deep.equal([[1], before]);
    expect(goes.listenerCount('drain')).to.equal(0);

    const slow = open();
    slow.writableNeedDrain = true;
    await Promise.resolve();
    slow.writableLength = 2 ** 21;
    await nextTurn(2);
    expect([slow.destroyed, slow.listenerCount('drain')]).to.deep.equal([true, 0]);

    const leaves = open();
    await Promise.resolve();
    leaves.destroy();
    await nextTurn(2);
    expect(leaves.numbers, 'gone during its read').to.deep.equal([]);
    const after = source.reads;
    open().destroy();
    await nextTurn();
    expect(source.reads, 'gone before its read').to.equal(after);
  });

  it('closes a client that lags more than 1 MiB behind', async () => {
    const res = open();
    await nextTurn(2);
    res.writableLength = 1024 * 1024;
    source.deliver(notice(1));
    expect(res.destroyed).to.equal(false);
    res.writableLength += 1;
    source.deliver(notice(2));
    expect(res.destroyed).to.equal(true);
  });

  /** Causes of each end. */
  const ends: Record<Parameters<Stream['close']>[0], (res: FakeResponse) => Promise<void> | void> = {
    client: (res) => void res.emit('error', new Error('gone')),
    expired: () => pass(10),
    slow: (res) => {
      res.writableLength = 2 ** 21;
      pass(20);
    },
    drain: () => {
      void hub.close(0);
      mock.timers.tick(0);
    },
    restore: noteRestore,
    async error() {
      source.isAway = true;
      source.deliver(notice(9));
      await nextTurn();
    },
  };
  for (const [reason, end] of Object.entries(ends)) {
    it(`counts an end as ${reason} once, and ends once`, async () => {
      const counts = () =>
        Promise.all([counted(metrics.streams), counted(metrics.streamsClosed, { reason })]);
      const [open0, ended0] = await counts();
      const res = open(reason === 'expired' ? 10_000 : 3_600_000);
      await nextTurn(2);
      expect(await counts()).to.deep.equal([open0 + 1, ended0]);
      await end(res);
      expect(await counts()).to.deep.equal([open0, ended0 + 1]);
      const byForce = reason === 'slow' || reason === 'client';
      expect(res).to.include({ destroyed: byForce, isEnded: !byForce });
      expect(source.subscribed).to.equal(0);
      res.emit('close');
      res.emit('error', new Error('late'));
      expect(await counts()).to.deep.equal([open0, ended0 + 1]);
    });
  }

  it('tells one too many of a member to come back later, and leaves the others open', async () => {
    const before = await counted(metrics.streamsClosed, { reason: 'too-many' });
    const ten = Array.from({ length: 10 }, () => open());
    expect(open()).to.include({ isEnded: true, text: 'retry: 60000\n: too-many\n\n' });
    expect([...ten, open(3_600_000, 8)].some(({ isEnded }) => isEnded)).to.equal(false);
    expect(await counted(metrics.streamsClosed, { reason: 'too-many' })).to.equal(before + 1);
    ten[3]?.emit('close');
    expect([open().isEnded, open().isEnded]).to.deep.equal([false, true]);
  });

  it('keeps nothing of streams that have ended', async () => {
    const taken = await memoryTaken(3_000, async (i) => {
      // Neither of their members, nor of timers for the end of their tokens.
      const res = open(15_000, i);
      if (i % 1_000 === 500) await nextTurn();
      res.emit('close');
    });
    expect(taken).to.be.below(300_000);
  });

  it('sets one timer for the end of a token, in its last twenty seconds', () => {
    const timers = mock.method(globalThis, 'setTimeout');
    try {
      pass(10);
      open(31_000);
      expect(timers.mock.callCount()).to.equal(0);
      open(25_000);
      pass(10);
      expect(timers.mock.callCount()).to.equal(2);
    } finally {
      timers.mock.restore();
    }
  });

  it('opens none for a client that is gone', () => {
    const res = new FakeResponse();
    res.destroyed = true;
    open(undefined, undefined, res);
    const req = { socket: { destroyed: true } } as unknown as IncomingMessage;
    hub.open(req, new FakeResponse() as unknown as ServerResponse, 7, 3_600_000, 0);
    expect(source.subscribed).to.equal(0);
  });

  it('sends comment lines during the drain window, and ends streams whose tokens expire', () => {
    const [staying, expiring] = [open(), open(30_000)];
    staying.text = '';
    const random = mock.method(Math, 'random', () => 0.9);
    void hub.close(300_000);
    random.mock.restore();
    pass(45);
    expect(staying.text).to.equal(': heartbeat\n\n'.repeat(2));
    expect([staying.isEnded, expiring.isEnded]).to.deep.equal([false, true]);
    pass(225);
    expect(staying.isEnded).to.equal(true);
  });

  it('ends each at a random moment of the drain window, and later ones at once', async () => {
    const moments = [0.9, 0.1, 0.5];
    const random = mock.method(Math, 'random', () => moments.shift());
    const beats = mock.method(globalThis, 'clearInterval');
    try {
      const streams = [open(), open(), open()];
      let isOver = false;
      const closed = hub.close(1_000).then(() => {
        isOver = true;
      });
      const ended = () => streams.map(({ isEnded }) => isEnded);
      mock.timers.tick(99);
      expect(ended()).to.deep.equal([false, false, false]);
      mock.timers.tick(1);
      expect(ended()).to.deep.equal([false, true, false]);
      expect(open().isEnded).to.equal(true);
      mock.timers.tick(400);
      expect(ended()).to.deep.equal([false, true, true]);
      await nextTurn();
      expect(isOver).to.equal(false);
      mock.timers.tick(400);
      expect(ended()).to.deep.equal([true, true, true]);
      await closed;
      expect(beats.mock.callCount(), 'no beat goes on').to.equal(1);
    } finally {
      random.mock.restore();
      beats.mock.restore();
    }
  });
});
