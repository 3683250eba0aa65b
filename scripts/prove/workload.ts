import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../mutate/random.js';
import type { CountedName } from './check/facts/coverage.js';
import { act } from './clients/actions.js';
import { Device, type Kind } from './clients/device.js';
import type { Community } from './community.js';
import type { HistoryFile } from './history-file.js';
import type { Served } from './served.js';

/** Longest pause of a client between two actions, ms. */
const PAUSE_MS = 700;

/** Of so many clients one connects by the way on which packets may get lost. */
const DETOURED = 4;

/** Of so many clients one begins by long-polling, where that is served. */
const UPGRADED = 5;

/** Numbers that differ for each pair of seed and name (FNV-1a). */
function seedOf(seed: number, name: string): number {
  let hash = 2_166_136_261 ^ seed;
  for (const char of name) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
  return hash >>> 0;
}

/** Random integers for one purpose: other purposes do not change them. */
export const randomFor = (seed: number, purpose: string) => seededRandom(seedOf(seed, purpose));

/** The clients of a member. A quarter each: socket and stream, two sockets, REST and stream, the legacy app. */
function clientsOf(i: number): { suffix: string; kind: Kind; hasStream: boolean }[] {
  if (i % 4 === 0) return [{ suffix: 'a', kind: 'socket', hasStream: true }];
  if (i % 4 === 1) {
    return [
      { suffix: 'a', kind: 'socket', hasStream: false },
      { suffix: 'b', kind: 'socket', hasStream: true },
    ];
  }
  if (i % 4 === 2) return [{ suffix: 'r', kind: 'rest', hasStream: true }];
  return [{ suffix: 'l', kind: 'legacy', hasStream: i % 8 === 3 }];
}

/** Opens the clients of all members. @param isSticky whether gateways serve long-polling */
export function openDevices(
  history: HistoryFile,
  community: Community,
  servers: Served[],
  seed: number,
  isSticky: boolean,
): Device[] {
  const devices: Device[] = [];
  for (const [i, account] of community.members.entries()) {
    for (const [k, { suffix, kind, hasStream }] of clientsOf(i).entries()) {
      const client = `m${i + 1}.${suffix}`;
      const device = new Device({
        ...{ client, kind, hasStream, account, history, community, servers, others: devices },
        isDetoured: (i + k) % DETOURED === 0,
        transport: isSticky && (i + k) % UPGRADED === 1 ? 'upgraded' : undefined,
        tabTransports: isSticky ? ['polling', 'upgraded'] : [],
        choose: randomFor(seed, `${client} does`),
        below: randomFor(seed, `${client} connects`),
      });
      devices.push(device);
    }
  }
  return devices;
}

/**
 * Lets clients act until `isOver`; resolves when everything that they have begun is done.
 * @param lacking what they have not reached yet
 */
export async function runDevices(
  devices: Device[],
  isOver: () => boolean,
  lacking: () => readonly CountedName[],
): Promise<void> {
  await Promise.all(
    devices.map(async (device) => {
      for (const { room } of device.rooms) {
        if (device.choose(3) > 0) await device.app?.enter(room);
      }
      // From now on the service knows the legacy app without a token.
      await device.rest.rooms();
      while (!isOver()) {
        await act(device, new Set(lacking()));
        const waitMs = Math.max(device.choose(PAUSE_MS), device.rest.waitUntil - performance.now());
        await sleep(waitMs);
      }
    }),
  );
}
