import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Choice } from './actions.js';
import type { Device } from './device.js';

/** Longest absence of a stream alone, ms. */
const STREAM_AWAY_MS = 2_500;

/** Most notifications that are deleted at once. */
const DELETED = 3;

/** How long a client looks for a notification that its stream has not carried, ms, and how often. */
const LOOKED_FOR_MS = 3_000;
const LOOK_EVERY_MS = 250;

/** Lists the notifications, which the client then knows. */
export async function listNotifications(device: Device): Promise<void> {
  const { ok } = await device.rest.notifications();
  if (ok) device.notifications = ok.notifications.map(({ id }) => id);
}

async function check(device: Device): Promise<void> {
  if (device.notifications.length === 0) await listNotifications(device);
  const chosen = device.pick(device.notifications);
  if (chosen !== undefined) await device.rest.check(chosen);
}

/** Deletes some, and lists what is left. */
async function remove(device: Device): Promise<void> {
  if (device.notifications.length === 0) await listNotifications(device);
  const from = device.choose(Math.max(1, device.notifications.length));
  const some = device.notifications.slice(from, from + 1 + device.choose(DELETED));
  if (some.length === 0) return;
  await device.rest.delete(some);
  await listNotifications(device);
}

/** The stream comes back after a while: what was notified meanwhile is replayed. */
const dropStream: Action = (device) => device.stream?.drop(device.choose(STREAM_AWAY_MS));

/** Deletes what is notified while its stream is away: when the stream is back, it goes on after it. */
async function deleteUnseen(device: Device): Promise<void> {
  const { stream, rest } = device;
  if (!stream) return;
  await listNotifications(device);
  const known = new Set(device.notifications);
  stream.drop(LOOKED_FOR_MS + STREAM_AWAY_MS);
  for (let waited = 0; waited < LOOKED_FOR_MS; waited += LOOK_EVERY_MS) {
    await listNotifications(device);
    const fresh = device.notifications.filter((id) => !known.has(id));
    if (fresh.length > 0) {
      await rest.delete(fresh);
      return;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

const all = (weight: number) => ({ socket: weight, rest: weight, legacy: weight });

export const noticeChoices: readonly Choice[] = [
  { act: listNotifications, weights: all(4), reaches: ['listNotifications'] },
  { act: check, weights: all(2), reaches: ['markNotificationRead'] },
  { act: remove, weights: all(1), reaches: ['deleteNotifications', 'deletedNotificationsGone'] },
  { act: dropStream, weights: all(2), reaches: ['openEventStream', 'replayedStreams'] },
  { act: deleteUnseen, weights: { socket: 0, rest: 0 }, reaches: ['shortenedStreams'] },
];
