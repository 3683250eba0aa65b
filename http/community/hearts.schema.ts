import { z } from 'zod';
import { id, pathId } from '../../domain/kernel/input.js';

const target = z
  .enum(['article', 'comment'], 'must be article or comment')
  .meta({ description: 'what is liked', example: 'article' });

const liked = { description: 'identifier of the article or comment', example: 1 };

export const heartBody = z.object({ target, id: id.meta(liked) });

export const heartPath = z.object({ target, id: pathId.meta(liked) });

export const likeCount = z
  .object({
    status: z.literal(200).meta({ description: '200 on success' }),
    data: z.int().meta({ description: 'the updated like count', example: 15 }),
  })
  .meta({
    id: 'LikeCount',
    description: 'The like is given or taken back; `data` is the updated like count.',
  });
