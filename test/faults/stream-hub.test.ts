import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { Delivery, Notifications } from '../../domain/notifications/index.js';
import { createLogger } from '../../domain/platform/logger.js';
import { createStreamHub, type StreamHub } from '../../http/sse/stream-hub.js';

/** A response that keeps what is written to it. */
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
  }
  destroy(): void {
    this.destroyed = true;
  }
}

const socket = { destroyed: false, setTimeout() {}, setNoDelay() {}, setKeepAlive() {} };

describe('the hub of event streams', () => {
  let hub: StreamHub;
  let deliver: (delivery: Delivery) => void;
  const history: Delivery[] = [];
  const notifications = {
    subscribe(_: number, listener: (delivery: Delivery) => void) {
      deliver = listener;
      return { ready: Promise.resolve(), end() {} };
    },
    async *replayAfter(_: number, after: number) {
      yield history.filter(({ n }) => n > after);
    },
  } as unknown as Notifications;
  const notice = (n: number) => ({ memberNo: 7, n, view: { id: n } }) as unknown as Delivery;
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    history.length = 0;
    mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'] });
    hub = createStreamHub(notifications, createLogger('silent', 'test'));
  });
  afterEach(() => {
    void hub.close(0);
    mock.timers.reset();
  });

  function open(expiresAt = 3_600_000, cursor = 0): FakeResponse {
    const res = new FakeResponse();
    hub.open(
      { socket } as unknown as IncomingMessage,
      res as unknown as ServerResponse,
      7,
      expiresAt,
      cursor,
    );
    return res;
  }

  it('sends a comment line every twenty seconds, and says when to come back', () => {
    const res = open();
    expect(res.text).to.match(
      /^retry: \d+\nid: 7_0\nevent: sse\ndata: EventStream Created\. \[userId=7\]\n\n$/,
    );
    res.text = '';
    mock.timers.tick(60_000);
    expect(res.text).to.equal(': heartbeat\n\n'.repeat(3));
  });

  it('ends a stream when its token ends, to the second, however far off that is', () => {
    const [soon, later] = [open(5_000), open(100_500)];
    mock.timers.tick(4_999);
    expect(soon.isEnded).to.equal(false);
    mock.timers.tick(1);
    expect(soon.isEnded).to.equal(true);
    // In steps: mocked timers run at the end of the time they are moved by.
    for (let i = 0; i < 95; i += 1) mock.timers.tick(1_000);
    expect(later.isEnded).to.equal(false);
    mock.timers.tick(1_000);
    expect(later.isEnded).to.equal(true);
  });

  it('writes each number once and in order, and reads what a jump has left out', async () => {
    history.push(notice(1), notice(2));
    const res = open();
    await turn();
    deliver(notice(2));
    await turn();
    deliver(notice(3));
    deliver(notice(3));
    history.push(notice(3), notice(4), notice(5));
    deliver(notice(5));
    await turn();
    deliver(notice(4));
    const numbers = [...res.text.matchAll(/^id: 7_(\d+)$/gm)].map((match) => Number(match[1]));
    expect(numbers).to.deep.equal([0, 1, 2, 3, 4, 5]);
  });

  it('cuts a reader that lags past 1 MiB', async () => {
    const res = open();
    await turn();
    res.writableLength = 1024 * 1024;
    deliver(notice(1));
    expect(res.destroyed).to.equal(false);
    res.writableLength += 1;
    deliver(notice(2));
    expect(res.destroyed).to.equal(true);
  });

  it('ends all of them in a stop, and those that come after', () => {
    const before = open();
    void hub.close(1_000);
    mock.timers.tick(1_000);
    expect(before.isEnded).to.equal(true);
    expect(open().isEnded).to.equal(true);
  });
});
