import { expect } from 'chai';
import type { OpenRooms, Presence } from '../../domain/chat/presence.js';
import { eventually } from '../support/eventually.js';
import { createOpenRooms, type FakeRooms } from '../support/open-rooms.js';

/** What every implementation of the presence port owes its callers. */
export function presenceContract(name: string, open: (openRooms: OpenRooms) => Presence): void {
  /** Rooms of their own for each test: an implementation may be shared. */
  let room = 1_000_000 + Math.floor(Math.random() * 1_000_000_000);

  describe(`presence: ${name}`, () => {
    let openRooms: FakeRooms;
    let presence: Presence;
    /** What was told since it was last asked for, without versions, which have to rise. */
    let told: [chatNo: number, memberNo: number, present: boolean][];

    beforeEach(() => {
      room += 1;
      openRooms = createOpenRooms();
      presence = open(openRooms);
      told = [];
      const versions = new Map<string, number>();
      presence.onChange((chatNo, memberNo, present, version) => {
        const key = `${chatNo} ${memberNo}`;
        expect(version).above(versions.get(key) ?? 0);
        versions.set(key, version);
        told.push([chatNo, memberNo, present]);
      });
    });
    afterEach(() => presence.close());

    function expectTold(...changes: [memberNo: number, present: boolean][]): void {
      expect(told.splice(0)).deep.equal(changes.map((change) => [room, ...change]));
    }

    it('begins with the first connection and ends with the last', async () => {
      await presence.enter(room, 3, 'phone');
      expectTold([3, true]);
      await presence.enter(room, 3, 'laptop');
      await presence.leave(room, 3, 'phone');
      expectTold();
      expect(await presence.isPresent(room, 3)).equal(true);
      await presence.leave(room, 3, 'laptop');
      expectTold([3, false]);
      expect(await presence.isPresent(room, 3)).equal(false);
    });

    it('counts a connection once, however often it enters and leaves', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 3, 'laptop');
      await presence.leave(room, 3, 'phone');
      await presence.leave(room, 3, 'phone');
      expectTold([3, true]);
      expect(await presence.isPresent(room, 3)).equal(true);
    });

    it('is nobody where nobody entered', async () => {
      expect(await presence.isPresent(room, 3)).equal(false);
      expect(await presence.list(room)).deep.equal([]);
      await presence.leave(room, 3, 'phone');
      await presence.clear(room, 3);
      expectTold();
    });

    it('keeps rooms and members apart', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 33, 'phone');
      expectTold([3, true], [33, true]);
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

    it('takes all connections of a member out, and forgets them', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 3, 'laptop');
      await presence.enter(room, 4, 'tablet');
      expectTold([3, true], [4, true]);
      await presence.clear(room, 3);
      expectTold([3, false]);
      expect(openRooms.takenOut).deep.equal([
        [room, 'phone'],
        [room, 'laptop'],
      ]);
      expect(await presence.list(room)).deep.equal([4]);
      await presence.leave(room, 3, 'phone');
      await presence.clear(room, 3);
      expectTold();
      await presence.enter(room, 3, 'new page');
      expectTold([3, true]);
    });

    it('does not count a connection that is not in the room any more', async () => {
      openRooms.leave(room, 'phone');
      await presence.enter(room, 3, 'phone');
      expectTold();
      expect(await presence.list(room)).deep.equal([]);
    });

    it('ends by itself when no connection of the member is in the room any more', async () => {
      await presence.enter(room, 3, 'phone');
      await presence.enter(room, 3, 'laptop');
      await presence.enter(room, 4, 'tablet');
      expectTold([3, true], [4, true]);
      openRooms.leave(room, 'phone');
      openRooms.leave(room, 'laptop');
      await eventually(() => expect(told).length(1));
      expectTold([3, false]);
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
