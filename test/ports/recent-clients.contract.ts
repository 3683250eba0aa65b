import { expect } from 'chai';
import type { RecentClients } from '../../domain/chat/recent-clients.js';

export interface RecentClientsUnderTest {
  recentClients: RecentClients;
  /** How long a member is remembered, ms. */
  recentFor: number;
  /** Lets time pass, ms. */
  pass(ms: number): Promise<void>;
}

/** The guarantees of every implementation of the recent clients port. */
export function recentClientsContract(name: string, open: () => RecentClientsUnderTest): void {
  let count = 0;

  describe(`recent clients: ${name}`, () => {
    let under: RecentClientsUnderTest;
    let client: string;
    /** Who of the members 3, 4 and 5 may push into room 7. */
    const found = (where = client, chatNo = 7) => under.recentClients.find(where, chatNo, [3, 4, 5]);
    const opens = { rooms: [7] };
    beforeEach(() => {
      count += 1;
      under = open();
      client = `test ${process.pid} ${count} ${Math.random()} `;
    });
    afterEach(() => under.recentClients.close());

    it('finds the members seen from a client, last seen first', async () => {
      for (const memberNo of [3, 5, 4, 3]) under.recentClients.touch(client, memberNo, opens);
      expect(await found()).deep.equal([3, 4, 5]);
      under.recentClients.touch(client, 5);
      expect(await found()).deep.equal([5, 3, 4]);
      expect(await under.recentClients.find(client, 7, [4, 6])).deep.equal([4]);
    });

    it('finds nobody for an unknown client', async () => {
      under.recentClients.touch(client, 3, opens);
      expect(await found(`${client}another`)).deep.equal([]);
    });

    it('finds members for the rooms they opened or listed there, and no others', async () => {
      const { recentClients } = under;
      recentClients.touch(client, 3);
      recentClients.touch(client, 4, { rooms: [7, 9] });
      recentClients.touch(client, 5, { upTo: 8 });
      expect(await found(client, 7)).deep.equal([5, 4]);
      expect(await found(client, 8)).deep.equal([5]);
      expect(await found(client, 9)).deep.equal([4]);
      expect(await found(client, 10)).deep.equal([]);
      // Nothing is taken back by a list that is shorter, or of one post.
      recentClients.touch(client, 5, { upTo: 0 });
      recentClients.touch(client, 5, { rooms: [10] });
      expect(await found(client, 8)).deep.equal([5]);
      expect(await found(client, 10)).deep.equal([5]);
      expect(await found(`${client}another`, 7)).deep.equal([]);
    });

    it('forgets a member and the rooms after a time', async () => {
      under.recentClients.touch(client, 3, { upTo: 6, rooms: [7] });
      // `touch` cannot be awaited; a find after it can.
      expect(await found()).deep.equal([3]);
      await under.pass(under.recentFor + 10);
      expect(await found()).deep.equal([]);
      under.recentClients.touch(client, 3);
      expect(await found()).deep.equal([]);
      expect(await found(client, 6)).deep.equal([]);
    });

    it('counts the time from the latest touch', async () => {
      under.recentClients.touch(client, 3, opens);
      under.recentClients.touch(client, 4, opens);
      expect(await found()).deep.equal([4, 3]);
      await under.pass(under.recentFor * 0.6);
      under.recentClients.touch(client, 4);
      await under.pass(under.recentFor * 0.6);
      expect(await found()).deep.equal([4]);
    });

    it('keeps the latest 100 rooms that a member opened, and what was listed', async () => {
      const { recentClients } = under;
      recentClients.touch(client, 3, { upTo: 5 });
      for (let chatNo = 10; chatNo < 112; chatNo += 1) recentClients.touch(client, 3, { rooms: [chatNo] });
      const kept = await Promise.all([5, 10, 11, 12, 111].map((chatNo) => found(client, chatNo)));
      expect(kept.map((members) => members.length)).deep.equal([1, 0, 0, 1, 1]);
      recentClients.touch(client, 4, { rooms: Array.from({ length: 150 }, (_, i) => 10 + i) });
      const listed = await Promise.all([59, 60, 159].map((chatNo) => found(client, chatNo)));
      expect(listed.map((members) => members.includes(4))).deep.equal([false, true, true]);
    });
  });
}
