import { z } from 'zod';
import type { RenderRecord } from '../../domain/adoption/index.js';

/** `_csrf` is accepted and ignored, once, twice or not at all. (contract, section 2) */
export const renderQuery = z.object({
  _csrf: z.unknown().optional().meta({ description: 'a CSRF token; accepted and ignored', type: 'string' }),
});

/** Interface, "Adoption render record". */
export const renderRecords = z
  .array(
    z
      .object({
        id: z
          .int()
          .meta({ description: 'adoption post identifier: the `saleNo` of chat rooms', example: 12 }),
        name: z.string().meta({ description: 'animal name', example: 'Bori' }),
        age: z.string().meta({ description: 'age as free text', example: '2살' }),
        kind: z.string().meta({
          description: 'animal kind: the app filters by 강아지 (dog), 고양이 (cat) and 기타 (other)',
          example: '강아지',
        }),
        latitude: z
          .number()
          .min(-90)
          .max(90)
          .meta({ description: 'latitude, decimal degrees', example: 37.5665 }),
        longitude: z
          .number()
          .min(-180)
          .max(180)
          .meta({ description: 'longitude, decimal degrees', example: 126.978 }),
        thumbnail: z.string().meta({ description: 'thumbnail reference', example: 'image/bori-small.jpg' }),
        modal: z.boolean().meta({ description: 'modal flag' }),
      })
      .meta({ id: 'RenderRecord', description: 'An adoption post as the map renders it.' }),
  )
  .meta({ description: 'posts, highest number first' }) satisfies z.ZodType<RenderRecord[]>;
