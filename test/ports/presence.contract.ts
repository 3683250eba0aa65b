import { expect } from 'chai';
import type { OpenRooms, Presence } from '../../domain/chat/presence.js';
import { eventually } from '../support/eventually.js';
import { createOpenRooms, type FakeRooms } from '../support/open-rooms.js';

/** The guarantees of every implementation of the presence port. */
export function presenceContract(name: string, open: (openRooms: OpenRooms) => Presence): void {
  /** Each test has its own rooms: implementations may share a store. */
  let room = 1_000_000 + Math.floor(Math.random() * 1_000_000_000);

  describe(`presence: ${name}`, () => {
    let openRooms: FakeRooms;
    let presence: Presence;
    /** Changes published since `expectPublished` was last called. Their versions have to rise. */
    let published: [chatNo: number, memberNo: number, present: boolean][];

    beforeEach(() => {
      room += 1;
      openRooms = createOpenRooms();
      presence = open(openRooms);
      published = [];
      const versions = new Map<string, number>();
      presence.onChange((chatNo, memberNo, present, version) => {
        const key = `${chatNo} ${memberNo}`;
        expect(version).above(versions.get(key) ?? 0);
        versions.set(key, version);
        published.push([chatNo, memberNo, present]);
      });
    });
    afterEach(() => presence.close());

    function expectPublished(...changes: [memberNo: number, present: boolean][]): void {
      expect(published.splice(0)).deep.equal(changes.map((change) => [room, ...change]));
    }

    it('begins with the first connection and ends with the last', async () => {
      await presence.enter(room, 3, 'phone');
      expectPublished([3, true]);
      await presence.enter(room, 3, 'laptop');
      await presence.leave(room, 3, 'phone');
      expectPublished();
      expect(await presence.isPresent(room, 3)).equal(true);
      await presence.leave(room, 3, 'laptop');
      expectPublished([3, false]);
      expect(await presence.isPresent(room, 3)).equal(false);
    });

    it('counts a connection once, however often it enters and leaves', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 3, 'laptop');
      await presence.leave(room, 3, 'phone');
      await presence.leave(room, 3, 'phone');
      expectPublished([3, true]);
      expect(await presence.isPresent(room, 3)).equal(true);
    });

    it('has nobody in a room that nobody entered', async () => {
      expect(await presence.isPresent(room, 3)).equal(false);
      expect(await presence.list(room)).deep.equal([]);
      await presence.leave(room, 3, 'phone');
      await presence.clear(room, 3);
      expectPublished();
    });

    it('keeps rooms and members apart', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 33, 'phone');
      expectPublished([3, true], [33, true]);
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

    it('removes and forgets all connections of a member', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 3, 'laptop');
      await presence.enter(room, 4, 'tablet');
      expectPublished([3, true], [4, true]);
      await presence.clear(room, 3);
      expectPublished([3, false]);
      expect(openRooms.takenOut).deep.equal([
        [room, 'phone'],
        [room, 'laptop'],
      ]);
      expect(await presence.list(room)).deep.equal([4]);
      await presence.leave(room, 3, 'phone');
      await presence.clear(room, 3);
      expectPublished();
      await presence.enter(room, 3, 'new page');
      expectPublished([3, true]);
    });

    it('ignores a connection that is no longer in the room', async () => {
      openRooms.leave(room, 'phone');
      await presence.enter(room, 3, 'phone');
      expectPublished();
      expect(await presence.list(room)).deep.equal([]);
    });

    it('ends when no connection of the member is in the room any more', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 3, 'laptop');
      await presence.enter(room, 4, 'tablet');
      expectPublished([3, true], [4, true]);
      openRooms.leave(room, 'phone');
      openRooms.leave(room, 'laptop');
      await eventually(() => expect(published).length(1));
      expectPublished([3, false]);
      expect(await presence.list(room)).deep.equal([4]);
    });

    it('ends when its process stops', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.close();
      const next = open(openRooms);
      expect(await next.isPresent(room, 3)).equal(false);
      await next.close();
    });
  });
}
