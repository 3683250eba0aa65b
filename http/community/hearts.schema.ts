import { z } from 'zod';
import { id, pathId } from '../../domain/kernel/input.js';

const target = z.enum(['article', 'comment'], 'must be article or comment');

export const heartBody = z.object({ target, id });

export const heartPath = z.object({ target, id: pathId });
