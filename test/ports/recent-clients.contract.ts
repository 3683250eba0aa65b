import { expect } from 'chai';
import type { RecentClients } from '../../domain/chat/recent-clients.js';
import type { Client } from '../../domain/kernel/client.js';

export interface BindingsUnderTest {
  bindings: RecentClients;
  /** Time a binding lasts, in ms. */
  boundFor: number;
  /** Lets time (ms) pass. */
  pass(ms: number): Promise<void>;
}

/** What every implementation of the bindings port owes its callers. */
export function bindingsContract(name: string, open: () => BindingsUnderTest): void {
  let count = 0;

  describe(`bindings: ${name}`, () => {
    let under: BindingsUnderTest;
    let client: Client;
    beforeEach(() => {
      count += 1;
      under = open();
      client = { address: `203.0.113.${count}`, userAgent: `test ${process.pid} ${Math.random()}` };
    });
    afterEach(() => under.bindings.close());

    it('finds the members seen from a client, the latest first', async () => {
      for (const memberNo of [3, 5, 4, 3]) under.bindings.touch(client, memberNo);
      expect(await under.bindings.find(client)).deep.equal([3, 4, 5]);
    });

    it('finds nobody behind a client that nobody was seen from', async () => {
      expect(await under.bindings.find(client)).deep.equal([]);
    });

    it('tells clients apart by address and by user agent', async () => {
      under.bindings.touch(client, 3);
      expect(await under.bindings.find({ ...client, userAgent: 'another' })).deep.equal([]);
      expect(await under.bindings.find({ ...client, address: '203.0.113.250' })).deep.equal([]);
      expect(await under.bindings.find({ ...client })).deep.equal([3]);
    });

    it('forgets a member after a time', async () => {
      under.bindings.touch(client, 3);
      // Nobody waits for a touch; what is found has been taken.
      expect(await under.bindings.find(client)).deep.equal([3]);
      await under.pass(under.boundFor + 10);
      expect(await under.bindings.find(client)).deep.equal([]);
    });

    it('counts the time from the latest touch', async () => {
      under.bindings.touch(client, 3);
      under.bindings.touch(client, 4);
      expect(await under.bindings.find(client)).deep.equal([4, 3]);
      await under.pass(under.boundFor * 0.6);
      under.bindings.touch(client, 4);
      await under.pass(under.boundFor * 0.6);
      expect(await under.bindings.find(client)).deep.equal([4]);
    });

    it('keeps 200 members of a client, the latest', async () => {
      for (let memberNo = 1; memberNo <= 205; memberNo += 1) under.bindings.touch(client, memberNo);
      expect(await under.bindings.find(client)).deep.equal(Array.from({ length: 200 }, (_, i) => 205 - i));
    });
  });
}
