import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryPresence } from '../../domain/chat/presence.memory.js';
import { createOpenRooms } from '../support/open-rooms.js';
import { everySchedule } from './every-schedule.js';

type Act = 'enter' | 'leave' | 'go' | 'clear';

const ROOM = 7;
const MEMBERS = [1, 2];

/** What becomes of a connection: each step takes place some time after the one before. */
const lives = fc.array(
  fc.record({
    memberNo: fc.constantFrom(...MEMBERS),
    life: fc.array(fc.constantFrom<Act>('enter', 'leave', 'go', 'clear'), { minLength: 1, maxLength: 5 }),
  }),
  { minLength: 1, maxLength: 5 },
);

describe('presence', () => {
  everySchedule(
    'lasts while one of a member’s connections is in, and its versions rise',
    lives,
    (program, step) => {
      const rooms = createOpenRooms();
      const presence = new MemoryPresence(rooms);
      /** Connections that count, by member. */
      const counting = new Map(MEMBERS.map((memberNo) => [memberNo, new Set<string>()]));
      const faults: string[] = [];
      let version = 0;
      const told = new Map(MEMBERS.map((memberNo) => [memberNo, false]));
      presence.onChange((_chatNo, memberNo, present, newer) => {
        if (newer <= version) faults.push(`version ${newer} follows ${version}`);
        if (told.get(memberNo) === present) faults.push(`${memberNo} is told ${present} again`);
        version = newer;
        told.set(memberNo, present);
      });

      async function check(moment: string): Promise<void> {
        for (const [memberNo, connections] of counting) {
          const expected = connections.size > 0;
          const isPresent = await presence.isPresent(ROOM, memberNo);
          if (isPresent !== expected) faults.push(`after ${moment}: ${memberNo} is ${isPresent}`);
          if (told.get(memberNo) !== expected)
            faults.push(`after ${moment}: ${memberNo} is not told ${expected}`);
        }
      }

      const acts: Record<Act, (memberNo: number, connection: string, own: Set<string>) => Promise<void>> = {
        async enter(memberNo, connection, own) {
          await presence.enter(ROOM, memberNo, connection);
          if (rooms.isInRoom(ROOM, connection)) own.add(connection);
        },
        async leave(memberNo, connection, own) {
          await presence.leave(ROOM, memberNo, connection);
          own.delete(connection);
        },
        // As a socket that closes.
        async go(memberNo, connection, own) {
          await acts.leave(memberNo, connection, own);
          rooms.removeFromRoom(ROOM, connection);
        },
        async clear(memberNo, _connection, own) {
          await presence.clear(ROOM, memberNo);
          for (const one of own)
            if (rooms.isInRoom(ROOM, one)) faults.push(`${one} was cleared, but is in the room`);
          own.clear();
        },
      };

      async function live(memberNo: number, life: Act[], connection: string): Promise<void> {
        const own = counting.get(memberNo) as Set<string>;
        for (const act of life) {
          await step(`${connection} of ${memberNo}: ${act}`);
          await acts[act](memberNo, connection, own);
          await check(act);
        }
      }

      for (const [i, { memberNo, life }] of program.entries()) void live(memberNo, life, `connection ${i}`);
      return async () => {
        await presence.close();
        expect(faults).to.deep.equal([]);
      };
    },
  );
});
