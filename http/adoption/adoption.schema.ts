import { z } from 'zod';

/** `_csrf` is accepted and ignored, once, twice or not at all. (contract, section 2) */
export const renderQuery = z.object({ _csrf: z.unknown().optional() });
