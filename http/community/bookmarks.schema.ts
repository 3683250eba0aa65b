import { z } from 'zod';
import { articleId } from './articles.schema.js';

/** What is bookmarked is an article. (contract, section 3) */
export const bookmarkPath = z.object({ targetId: articleId });
