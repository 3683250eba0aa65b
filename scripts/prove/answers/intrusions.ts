import { z } from 'zod';
import { type Intrusion, intrusions, type Manner } from '../intrusions.js';
import { acknowledged, no } from './operation.js';

export const intrusionOperations = {
  /**
   * What must be refused, or change nothing (intrusions.ts).
   * `on`: the number of the room, notification, comment or article; 0 of none.
   */
  intrude: acknowledged({
    call: z.enum(Object.keys(intrusions) as [Intrusion, ...Intrusion[]]),
    manner: z.enum(['foreign', 'missing', 'tokenless', 'forged'] satisfies Manner[]),
    on: no,
  }),
};
