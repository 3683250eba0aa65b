import { expect } from 'chai';
import type { Cluster } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { type Client, connect } from '../../support/sockets.js';
import { createChatClient } from './chat-client.js';
import { createChecker } from './checker.js';

/** Time, in ms, within which presence ends after its process. (contract, section 5) */
const PRESENCE_ENDS_MS = 30_000;

interface Presence {
  chatNo: number;
  memberNo: number;
  present: boolean;
}

/** Presence and delivery beside gateways that do not respond, in a cluster of at least three. */
export function itOutlivesFrozenPeers(given: () => Cluster): void {
  const gateway = (i: number) => given().gateways[i] as string;

  /** The last presence event that a client received of a member. */
  const lastPresence = (watcher: Client, memberNo: number) =>
    watcher
      .heard<Presence>('presence')
      .filter((event) => event.memberNo === memberNo)
      .at(-1);
  const becomes = (watcher: Client, memberNo: number, present: boolean) =>
    eventually(() => expect(lastPresence(watcher, memberNo)).to.include({ present }), PRESENCE_ENDS_MS);

  it('29: a killed and a frozen gateway delay no request and keep no member present; once resumed, the frozen one catches up before it serves', async () => {
    const cluster = given();
    const checker = createChecker();
    const [ofFrozen, ofKilled] = [await cluster.openRoom(), await cluster.openRoom()];
    const frozen = createChatClient('frozen', ofFrozen.author, () => gateway(1), checker);
    await frozen.enter(ofFrozen.chatNo);
    const killed = await connect(ofKilled.author, {}, gateway(2));
    await killed.join(ofKilled.chatNo);
    const ofFrozenWatcher = await connect(ofFrozen.asker, {}, gateway(0));
    const ofKilledWatcher = await connect(ofKilled.asker, {}, gateway(0));
    for (const [watcher, { chatNo, author, asker }] of [
      [ofFrozenWatcher, ofFrozen],
      [ofKilledWatcher, ofKilled],
    ] as const) {
      const { present } = await watcher.join<{ present: number[] }>(chatNo);
      expect(present).to.have.members([author.no, asker.no]);
    }

    cluster.process('gateway-1').signal('SIGSTOP');
    const start = Date.now();
    const killedAt = cluster.kill('gateway-2');
    const sender = createChatClient('sender', ofFrozen.asker, () => gateway(0), checker);
    // No request waits for the gateways that do not respond.
    for (let i = 0; i < 10; i += 1) {
      const asked = performance.now();
      await sender.send(ofFrozen.chatNo);
      const { status } = await ofFrozen.asker.get('/chatroom');
      expect(status).to.equal(200);
      const disconnect = await ofKilled.asker.post(`/chatroom/${ofKilled.chatNo}`, {
        email: 'nobody@example.org',
      });
      expect(disconnect.status).to.equal(404);
      expect(performance.now() - asked).to.be.below(1_500);
    }
    await killedAt;
    await Promise.all([
      becomes(ofFrozenWatcher, ofFrozen.author.no, false),
      becomes(ofKilledWatcher, ofKilled.author.no, false),
    ]);
    process.stdout.write(`      presence ended after ${Date.now() - start} ms\n`);
    // Unread, as the member is no longer present.
    await sender.send(ofFrozen.chatNo);
    const { body } = await ofFrozen.author.get<{ unReadCount: number }[]>('/chatroom');
    expect(body[0]?.unReadCount).to.be.above(0);

    cluster.process('gateway-1').signal('SIGCONT');
    await checker.verify(ofFrozen, gateway(0));
    await becomes(ofFrozenWatcher, ofFrozen.author.no, true);
    for (const one of [frozen, sender]) one.close();
    await cluster.restart('gateway-2');
  });
}
