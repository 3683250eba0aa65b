import { expect } from 'chai';
import type { Presence } from '../../domain/chat/presence/presence.js';

/** What every implementation of the presence port owes its callers. */
export function presenceContract(name: string, open: () => Presence): void {
  /** Rooms of their own for each test: an implementation may be shared. */
  let room = 1_000_000 + Math.floor(Math.random() * 1_000_000_000);

  describe(`presence: ${name}`, () => {
    let presence: Presence;
    beforeEach(() => {
      room += 1;
      presence = open();
    });
    afterEach(() => presence.close());

    it('begins with the first connection and ends with the last', async () => {
      expect(await presence.enter(room, 3, 'phone')).equal(true);
      expect(await presence.enter(room, 3, 'laptop')).equal(false);
      expect(await presence.leave(room, 3, 'phone')).equal(false);
      expect(await presence.isPresent(room, 3)).equal(true);
      expect(await presence.leave(room, 3, 'laptop')).equal(true);
      expect(await presence.isPresent(room, 3)).equal(false);
    });

    it('counts a connection once, however often it enters and leaves', async () => {
      await presence.enter(room, 3, 'phone');
      expect(await presence.enter(room, 3, 'phone')).equal(false);
      await presence.enter(room, 3, 'laptop');
      await presence.leave(room, 3, 'phone');
      expect(await presence.leave(room, 3, 'phone')).equal(false);
      expect(await presence.isPresent(room, 3)).equal(true);
    });

    it('is nobody where nobody entered', async () => {
      expect(await presence.isPresent(room, 3)).equal(false);
      expect(await presence.list(room)).deep.equal([]);
      expect(await presence.leave(room, 3, 'phone')).equal(false);
      expect(await presence.clear(room, 3)).equal(false);
    });

    it('keeps rooms and members apart', async () => {
      await presence.enter(room, 3, 'phone');
      expect(await presence.enter(room, 33, 'phone')).equal(true);
      await presence.enter(room + 1_000_000_000, 4, 'phone');
      expect(await presence.list(room)).deep.equal([3, 33]);
      await presence.leave(room, 33, 'phone');
      expect(await presence.list(room)).deep.equal([3]);
      expect(await presence.isPresent(room, 4)).equal(false);
    });

    it('lists members by number, each once', async () => {
      for (const memberNo of [30, 4, 200]) await presence.enter(room, memberNo, `phone of ${memberNo}`);
      await presence.enter(room, 4, 'laptop');
      expect(await presence.list(room)).deep.equal([4, 30, 200]);
    });

    it('forgets all connections of a member who is taken out', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 3, 'laptop');
      await presence.enter(room, 4, 'phone');
      expect(await presence.clear(room, 3)).equal(true);
      expect(await presence.list(room)).deep.equal([4]);
      expect(await presence.leave(room, 3, 'phone')).equal(false);
      expect(await presence.clear(room, 3)).equal(false);
      expect(await presence.enter(room, 3, 'phone')).equal(true);
    });

    it('ends when its process stops', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.close();
      const next = open();
      expect(await next.isPresent(room, 3)).equal(false);
      await next.close();
    });
  });
}
