import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { Delivery, Notifications } from '../../../domain/notifications/index.js';
import { createLogger } from '../../../domain/platform/logger.js';
import { metrics } from '../../../domain/platform/metrics.js';
import type { CloseReason } from '../../../http/sse/stream.js';
import { createStreamHub, type StreamHub } from '../../../http/sse/stream-hub.js';
import { nextTurn } from '../../support/eventually.js';
import { memoryTaken } from '../../support/memory.js';

/** A response that keeps what is written to it, and closes as soon as it has ended. */
class FakeResponse extends EventEmitter {
  text = '';
  destroyed = false;
  writableLength = 0;
  writableNeedDrain = false;
  isEnded = false;
  writeHead(): void {}
  write(text: string): void {
    this.text += text;
  }
  end(): void {
    this.isEnded = true;
    this.emit('close');
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  /** Numbers of the events, that of the first one left out. */
  get numbers(): number[] {
    return [...this.text.matchAll(/^id: \d+_(\d+)$/gm)].slice(1).map((match) => Number(match[1]));
  }
}

const notice = (n: number) => ({ memberNo: 7, n, view: { id: n } }) as unknown as Delivery;

describe('the hub of event streams', () => {
  let hub: StreamHub;
  let deliver: (delivery: Delivery) => void;
  let ready: Promise<void>;
  /** Subscriptions that have not ended. */
  let subscribed: number;
  /** What the database holds, and how many pages of it were read; more than a thousand would be for ever. */
  let history: Delivery[];
  let reads: number;
  let databaseIsAway: boolean;
  const notifications = {
    subscribe(_: number, listener: (delivery: Delivery) => void) {
      subscribed += 1;
      deliver = listener;
      return {
        ready,
        end() {
          subscribed -= 1;
        },
      };
    },
    async *replayAfter(_: number, after: number) {
      if (databaseIsAway || ++reads > 1_000) throw new Error('the database is away');
      const found = history.filter(({ n }) => n > after);
      await nextTurn();
      yield found.slice(0, 2);
      if (found.length <= 2) return;
      reads += 1;
      yield found.slice(2);
    },
  } as unknown as Notifications;

  beforeEach(() => {
    ready = Promise.resolve();
    [subscribed, reads, history, databaseIsAway] = [0, 0, [], false];
    mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'] });
    hub = createStreamHub(notifications, createLogger('silent', 'test'));
  });
  afterEach(() => {
    void hub.close(0);
    mock.timers.tick(0);
    // Forgets its mocks, too: a later `reset` in this process would bring the mocked timers back.
    mock.reset();
  });

  function open(expiresAt = 3_600_000, memberNo = 7, res = new FakeResponse()): FakeResponse {
    const req = { socket: { destroyed: false } } as unknown as IncomingMessage;
    hub.open(req, res as unknown as ServerResponse, memberNo, expiresAt, 0);
    return res;
  }

  /** Time goes on in steps: mocked timers run at the end of the time they are moved by. */
  function pass(seconds: number): void {
    for (let i = 0; i < seconds; i += 1) mock.timers.tick(1_000);
  }

  it('sends a comment line every twenty seconds, and says when to come back', () => {
    const res = open();
    expect(res.text).to.equal('retry: 3000\nid: 7_0\nevent: sse\ndata: EventStream Created. [userId=7]\n\n');
    res.text = '';
    mock.timers.tick(19_999);
    expect(res.text).to.equal('');
    mock.timers.tick(40_001);
    expect(res.text).to.equal(': heartbeat\n\n'.repeat(3));
  });

  it('ends a stream when its token ends, to the second, however far off that is', () => {
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
    expect(subscribed).to.equal(0);
  });

  it('writes each number once and in order, and reads what a jump has left out', async () => {
    history.push(notice(1), notice(2));
    const res = open();
    await nextTurn();
    deliver(notice(2));
    await nextTurn();
    deliver(notice(3));
    deliver(notice(3));
    history.push(notice(3), notice(4), notice(5));
    deliver(notice(5));
    await nextTurn();
    deliver(notice(4));
    expect(res.numbers).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('reads once its subscription stands, and holds back what it is told before and meanwhile', async () => {
    let stands = () => {};
    ready = new Promise((resolve) => {
      stands = resolve;
    });
    history.push(notice(1), notice(2));
    const res = open();
    deliver(notice(2));
    await nextTurn();
    expect([reads, res.numbers]).to.deep.equal([0, []]);
    stands();
    await Promise.resolve();
    history.push(notice(3));
    deliver(notice(3));
    deliver(notice(1));
    await nextTurn();
    await nextTurn();
    expect(res.numbers).to.deep.equal([1, 2, 3]);
    deliver(notice(4));
    expect(res.numbers).to.deep.equal([1, 2, 3, 4]);
  });

  it('takes numbers that are not there for deleted ones, and reads nothing for what it has passed', async () => {
    history.push(notice(1), notice(2));
    const res = open();
    await nextTurn();
    deliver(notice(5));
    await nextTurn();
    const before = reads;
    for (const n of [1, 4, 5]) deliver(notice(n));
    await nextTurn();
    expect(reads).to.equal(before);
    deliver(notice(6));
    expect(res.numbers).to.deep.equal([1, 2, 6]);
  });

  it('reads on as its reader reads, and no more once that one has gone', async () => {
    history.push(...[1, 2, 3, 4].map(notice));
    const res = open();
    const closeListeners = res.listenerCount('close');
    res.writableNeedDrain = true;
    for (const n of [1, 2, 3]) {
      await nextTurn();
      await nextTurn();
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
    await nextTurn();
    await nextTurn();
    const before = reads;
    goes.destroy();
    await nextTurn();
    expect([goes.numbers, reads]).to.deep.equal([[1], before]);
    expect(goes.listenerCount('drain')).to.equal(0);

    const slow = open();
    slow.writableNeedDrain = true;
    await Promise.resolve();
    slow.writableLength = 2 ** 21;
    await nextTurn();
    await nextTurn();
    expect([slow.destroyed, slow.listenerCount('drain')]).to.deep.equal([true, 0]);

    const leaves = open();
    await Promise.resolve();
    leaves.destroy();
    await nextTurn();
    await nextTurn();
    expect(leaves.numbers, 'gone while it was read for').to.deep.equal([]);

    const after = reads;
    open().destroy();
    await nextTurn();
    expect(reads, 'gone before it was read for').to.equal(after);
  });

  it('cuts a reader that lags past 1 MiB', async () => {
    const res = open();
    await nextTurn();
    await nextTurn();
    res.writableLength = 1024 * 1024;
    deliver(notice(1));
    expect(res.destroyed).to.equal(false);
    res.writableLength += 1;
    deliver(notice(2));
    expect(res.destroyed).to.equal(true);
  });

  /** How each end comes about. */
  const ends: Record<CloseReason, (res: FakeResponse) => Promise<void> | void> = {
    client: (res) => void res.emit('error', new Error('gone')),
    expired: () => pass(10),
    'too-many': () => {
      for (let i = 0; i < 10; i += 1) open();
    },
    slow: (res) => {
      res.writableLength = 2 ** 21;
      pass(20);
    },
    drain: () => {
      void hub.close(0);
      mock.timers.tick(0);
    },
    async error() {
      databaseIsAway = true;
      deliver(notice(9));
      await nextTurn();
    },
  };
  for (const [reason, end] of Object.entries(ends)) {
    it(`counts an end as ${reason} once, and goes by it once`, async () => {
      const counted = async () => [
        (await metrics.streams.get()).values[0]?.value ?? 0,
        (await metrics.streamsClosed.get()).values.find(({ labels }) => labels.reason === reason)?.value ?? 0,
      ];
      const [open0 = 0, ended0 = 0] = await counted();
      const res = open(reason === 'expired' ? 10_000 : 3_600_000);
      await nextTurn();
      await nextTurn();
      expect(await counted()).to.deep.equal([open0 + 1, ended0]);
      await end(res);
      const others = reason === 'too-many' ? 10 : 0;
      expect(await counted()).to.deep.equal([open0 + others, ended0 + 1]);
      const byForce = reason === 'slow' || reason === 'client';
      expect([res.destroyed, res.isEnded]).to.deep.equal([byForce, !byForce]);
      expect(subscribed).to.equal(others);
      res.emit('close');
      res.emit('error', new Error('late'));
      expect(await counted()).to.deep.equal([open0 + others, ended0 + 1]);
    });
  }

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

  it('opens none for a client that has gone', () => {
    const res = new FakeResponse();
    res.destroyed = true;
    open(undefined, undefined, res);
    const req = { socket: { destroyed: true } } as unknown as IncomingMessage;
    hub.open(req, new FakeResponse() as unknown as ServerResponse, 7, 3_600_000, 0);
    expect(subscribed).to.equal(0);
  });

  it('ends them over the time of a stop, each at a moment of its own, and those that come after at once', async () => {
    const moments = [0.9, 0.1, 0.5];
    const random = mock.method(Math, 'random', () => moments.shift());
    const beats = mock.method(globalThis, 'clearInterval');
    try {
      const streams = [open(), open(), open()];
      let isOver = false;
      const closed = hub.close(1_000).then(() => {
        isOver = true;
      });
      expect(beats.mock.callCount(), 'no beat goes on').to.equal(1);
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
    } finally {
      random.mock.restore();
      beats.mock.restore();
    }
  });
});
