import { z } from 'zod';

/** Ours: the interface has no such call. (contract, section 2) */
export const caller = z
  .object({
    memberNo: z
      .int()
      .meta({ description: 'number of the member, as in `createMember` and `senderNo`', example: 5 }),
    nickname: z.string().meta({ description: 'nickname, as others see it', example: 'Bori’s friend' }),
    role: z.enum(['USER', 'ADMIN']).meta({ description: 'ADMIN edits and deletes everybody’s articles' }),
  })
  .meta({ id: 'Caller', description: 'The member whose token was sent.' });
