import { expect } from 'chai';
import type { RecentClients } from '../../domain/chat/recent-clients.js';
import type { Client } from '../../domain/kernel/client.js';

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
    let client: Client;
    beforeEach(() => {
      count += 1;
      under = open();
      client = { address: `203.0.113.${count}`, userAgent: `test ${process.pid} ${Math.random()}` };
    });
    afterEach(() => under.recentClients.close());

    it('finds the members seen from a client, last seen first', async () => {
      for (const memberNo of [3, 5, 4, 3]) under.recentClients.touch(client, memberNo);
      expect(await under.recentClients.find(client)).deep.equal([3, 4, 5]);
    });

    it('finds nobody for an unknown client', async () => {
      expect(await under.recentClients.find(client)).deep.equal([]);
    });

    it('distinguishes clients by address and user agent', async () => {
      under.recentClients.touch(client, 3);
      expect(await under.recentClients.find({ ...client, userAgent: 'another' })).deep.equal([]);
      expect(await under.recentClients.find({ ...client, address: '203.0.113.250' })).deep.equal([]);
      expect(await under.recentClients.find({ ...client })).deep.equal([3]);
    });

    it('forgets a member after a time', async () => {
      under.recentClients.touch(client, 3);
      // `touch` cannot be awaited; a find after it can.
      expect(await under.recentClients.find(client)).deep.equal([3]);
      await under.pass(under.recentFor + 10);
      expect(await under.recentClients.find(client)).deep.equal([]);
    });

    it('counts the time from the latest touch', async () => {
      under.recentClients.touch(client, 3);
      under.recentClients.touch(client, 4);
      expect(await under.recentClients.find(client)).deep.equal([4, 3]);
      await under.pass(under.recentFor * 0.6);
      under.recentClients.touch(client, 4);
      await under.pass(under.recentFor * 0.6);
      expect(await under.recentClients.find(client)).deep.equal([4]);
    });

    it('keeps the latest 200 members of a client', async () => {
      for (let memberNo = 1; memberNo <= 205; memberNo += 1) under.recentClients.touch(client, memberNo);
      expect(await under.recentClients.find(client)).deep.equal(
        Array.from({ length: 200 }, (_, i) => 205 - i),
      );
    });
  });
}
