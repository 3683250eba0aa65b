import { z } from 'zod';
import { id, pathId } from '../../domain/kernel/input.js';

/** Most ids one deletion names. */
const MAX_IDS = 1_000;

/** Longest Last-Event-ID looked at, in characters; ours have at most 33. */
const MAX_EVENT_ID = 256;

export const notificationParams = z.object({ notificationId: pathId });

export const deleteBody = z.object({
  idList: z.array(id, 'must be a list of numbers').max(MAX_IDS, `must have at most ${MAX_IDS} numbers`),
});

/** The header, and the query parameter that the usual browser polyfill sends instead. */
export const lastEventId = z.object({
  'Last-Event-ID': z.string().max(MAX_EVENT_ID, `must have at most ${MAX_EVENT_ID} characters`),
});
