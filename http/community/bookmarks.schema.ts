import { z } from 'zod';
import { pathId } from '../../domain/kernel/input.js';

/** What is bookmarked is an article. (contract, section 3) */
export const bookmarkPath = z.object({ targetId: pathId });
