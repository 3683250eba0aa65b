import { z } from 'zod';
import { id, pathId } from '../../domain/kernel/input.js';

/** Most ids one deletion names. */
const MAX_IDS = 1_000;

export const notificationParams = z.object({ notificationId: pathId });

export const deleteBody = z.object({
  idList: z.array(id, 'must be a list of numbers').max(MAX_IDS, `must have at most ${MAX_IDS} numbers`),
});
