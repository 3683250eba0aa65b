import { z } from 'zod';
import { event, no, operation, unanswered } from './operation.js';
import { take } from './rest.js';

export const connectionOperations = {
  /** Opens a socket. `transport`: absent: WebSocket; `upgraded`: it begins by long-polling. */
  connect: unanswered({ transport: z.enum(['polling', 'upgraded']).optional() }),

  /** Sends the token again. */
  refresh: operation({
    asked: {},
    answered: { expiresAt: no },
    read(answer) {
      const [{ expiresAt }, rest] = take(answer, { expiresAt: 'int' });
      return { kept: { expiresAt }, rest: [rest] };
    },
    rest: () => [{ status: 200 }],
  }),
};

export const connectionEvents = {
  /** The process stops. */
  drain: event({
    shape: { withinMs: no },
    read(payload) {
      const [{ retryAfterMs }, rest] = take(payload, { retryAfterMs: 'int' });
      return { kept: { withinMs: retryAfterMs }, rest: [rest] };
    },
    rest: () => [{}],
  }),
};
