import { mock } from 'node:test';
import timers from 'node:timers';
import { expect } from 'chai';
import { startTcpProxy } from '../../scripts/command/tcp-proxy.js';
import { openRoom } from '../support/chat.js';
import { eventually } from '../support/eventually.js';
import { type RawSocket, rawSocket } from '../support/raw-socket.js';
import { service } from '../support/service.js';
import { connect, nextPresence, openSockets } from '../support/sockets.js';

describe('half-open connections', () => {
  /** Runs a task, and returns the timers of so many ms that it has set. */
  async function timersOf(ms: number, task: () => unknown): Promise<(() => void)[]> {
    const { mock: made } = mock.method(timers, 'setTimeout');
    try {
      await task();
      return made.calls.flatMap(({ arguments: [run, after] }) => (after === ms ? [run as () => void] : []));
    } finally {
      made.restore();
    }
  }

  it('13: a client whose packets are lost is closed within ping interval and timeout, and is no longer present', async () => {
    const { author, asker, chatNo } = await openRoom();
    const watcher = await connect(author);
    await watcher.join(chatNo);
    const before = await openSockets();
    const { gateway } = await service();
    const proxy = await startTcpProxy(() => Number(new URL(gateway).port));
    let lost: RawSocket | undefined;
    const pings = await timersOf(20_000, async () => {
      lost = await rawSocket(`http://127.0.0.1:${proxy.port}`);
    });
    lost?.send(`40${JSON.stringify({ token: asker.token })}`);
    lost?.send(`421["room:join",{"chatNo":${chatNo}}]`);
    await lost?.next(/^431\[\{"status":200/);
    expect(await openSockets()).to.equal(before + 1);

    proxy.silence();
    const timeouts = await timersOf(10_000, () => {
      for (const ping of pings) ping();
    });
    expect([pings.length, timeouts.length], 'a ping after 20 s, its timeout after 10 s').to.deep.equal([
      1, 1,
    ]);
    for (const timeout of timeouts) timeout();
    await eventually(async () => expect(await openSockets()).to.equal(before));
    await nextPresence(watcher, false, asker.no);
    await proxy.close();
  });
});
