import { expect } from 'chai';
import type { Cluster } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { type Client, connect } from '../../support/sockets.js';
import { createChatClient } from './chat-client.js';
import { createChecker } from './checker.js';

/** Time, in ms, in which presence ends with its process. (contract, section 5) */
const PRESENCE_ENDS_MS = 30_000;

interface Presence {
  chatNo: number;
  memberNo: number;
  present: boolean;
}

/** Presence and delivery beside peers that do not answer, over a cluster of at least three gateways. */
export function itOutlivesFrozenPeers(given: () => Cluster): void {
  const gateway = (i: number) => given().gateways[i] as string;

  const gone = (watcher: Client, memberNo: number) =>
    eventually(
      () =>
        expect(
          watcher
            .heard<Presence>('presence')
            .filter((event) => event.memberNo === memberNo)
            .at(-1),
        ).to.include({
          present: false,
        }),
      PRESENCE_ENDS_MS,
    );

  it('29: a killed and a frozen gateway hold nobody up and keep nobody present; the frozen one catches up before it serves', async () => {
    const cluster = given();
    const checker = createChecker();
    const [ofFrozen, ofKilled] = [await cluster.openRoom(), await cluster.openRoom()];
    const frozen = createChatClient('frozen', ofFrozen.author, () => gateway(1), checker);
    await frozen.enter(ofFrozen.chatNo);
    const killed = await connect(ofKilled.author, {}, gateway(2));
    await killed.ask('room:join', { chatNo: ofKilled.chatNo });
    const watchers = [
      await connect(ofFrozen.asker, {}, gateway(0)),
      await connect(ofKilled.asker, {}, gateway(0)),
    ];
    for (const [i, { chatNo, author, asker }] of [ofFrozen, ofKilled].entries()) {
      const { present } = await (watchers[i] as Client).ask<{
        present: number[];
      }>('room:join', { chatNo });
      expect(present).to.have.members([author.no, asker.no]);
    }

    cluster.process('gateway-1').signal('SIGSTOP');
    const start = Date.now();
    const killedAt = cluster.kill('gateway-2');
    const sender = createChatClient('sender', ofFrozen.asker, () => gateway(0), checker);
    // Nothing on anybody's path waits for the peers that do not answer.
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
      gone(watchers[0] as Client, ofFrozen.author.no),
      gone(watchers[1] as Client, ofKilled.author.no),
    ]);
    process.stdout.write(`      presence ended after ${Date.now() - start} ms\n`);
    // Unread again, as they are not there.
    await sender.send(ofFrozen.chatNo);
    const { body } = await ofFrozen.author.get<{ unReadCount: number }[]>('/chatroom');
    expect(body[0]?.unReadCount).to.be.above(0);

    cluster.process('gateway-1').signal('SIGCONT');
    await checker.verify(ofFrozen, gateway(0));
    await eventually(() =>
      expect(
        watchers[0]
          ?.heard<Presence>('presence')
          .filter(({ memberNo }) => memberNo === ofFrozen.author.no)
          .at(-1),
      ).to.include({ present: true }),
    );
    for (const one of [frozen, sender]) one.close();
    await cluster.restart('gateway-2');
  });
}
