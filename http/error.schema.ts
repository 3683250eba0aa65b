import { z } from 'zod';
import { type ErrorBody, listErrorCodes } from '../domain/kernel/errors.js';

/** The body of every error answer. (interface, "Common response bodies"; contract, section 2) */
export const errorBody = z
  .object({
    status: z.int().meta({ description: 'the HTTP status', example: 404 }),
    message: z
      .enum(listErrorCodes().map(({ code }) => code))
      .meta({ description: 'a stable code that clients may switch on' }),
    errors: z.array(z.string().meta({ description: 'one fault', example: 'title: is missing' })).meta({
      description: 'what is wrong, one text per fault, naming the field; texts may change',
    }),
  })
  .meta({
    id: 'Error',
    description: 'Every error answer, REST and sockets alike.',
  }) satisfies z.ZodType<ErrorBody>;

const errorStatuses = [...new Set(listErrorCodes().map(({ status }) => status))].sort();

/** The answer to a socket event that failed. */
export const errorAck = errorBody
  .extend({
    // Listed, so that a type checker tells an error from success by its status.
    status: z.literal(errorStatuses).meta({ description: 'the HTTP status', example: 404 }),
    retryAfterMs: z
      .int()
      .optional()
      .meta({ description: 'milliseconds to wait, where the request may be repeated', example: 1_000 }),
  })
  .meta({
    id: 'ErrorAck',
    description: 'The error body, with the time to wait where the request may be repeated.',
  });
