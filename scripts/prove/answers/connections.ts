import { z } from 'zod';
import { event, no, operation, unanswered } from './operation.js';
import { take } from './rest.js';

export const connectionOperations = {
  /** Opens a socket. `transport`: absent: WebSocket; `upgraded`: it begins by long-polling. */
  connect: unanswered({ transport: z.enum(['polling', 'upgraded']).optional() }),

  /** Sends the token again, which ends at `expiresAt`, epoch ms. */
  refresh: operation({
    asked: { expiresAt: no },
    answered: {},
    read: (answer) => ({ kept: {}, rest: [answer] }),
    rest: ({ expiresAt }) => [{ status: 200, expiresAt }],
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
